#include "tools/tidelockd/event_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace tidelock::tidelockd {
namespace {

constexpr std::uint32_t kPerSecondMax = 10;
constexpr std::size_t kQueuedMax = 4'096;  // lines
constexpr auto kLastMoment = std::chrono::seconds(1);
constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};

std::string time_text() {
    const auto now = std::chrono::system_clock::now();
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), millis);
}

}  // namespace

struct EventLog::Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> lines;
    std::uint64_t dropped = 0;
    bool is_writing = false;
    bool is_ending = false;
};

EventLog::EventLog(std::FILE* out, Level least) : queue_(std::make_shared<Queue>()), least_(least) {
    std::thread([queue = queue_, out] { write_queued(queue, out); }).detach();
}

EventLog::~EventLog() {
    std::unique_lock lock(queue_->mutex);
    queue_->is_ending = true;
    queue_->changed.notify_all();
    queue_->changed.wait_for(lock, kLastMoment, [this] { return queue_->lines.empty() && !queue_->is_writing; });
}

void EventLog::write_queued(const std::shared_ptr<Queue>& queue, std::FILE* out) {
    std::unique_lock lock(queue->mutex);
    for (;;) {
        queue->changed.wait(lock, [&] { return queue->is_ending || !queue->lines.empty(); });
        if (queue->lines.empty()) return;
        const std::string line = std::move(queue->lines.front());
        queue->lines.pop_front();
        queue->is_writing = true;
        lock.unlock();
        std::fwrite(line.data(), 1, line.size(), out);
        std::fflush(out);
        lock.lock();
        queue->is_writing = false;
        if (queue->lines.empty()) queue->changed.notify_all();
    }
}

void EventLog::write(Level level, std::string_view event, std::string_view text, const Fields& fields) {
    if (level < least_) return;
    nlohmann::ordered_json line;
    line["time"] = time_text();
    line["level"] = kLevels[static_cast<std::size_t>(level)];
    line["event"] = event;
    if (!text.empty()) line["text"] = text;
    for (const auto& [key, value] : fields) line[std::string(key)] = value;
    const std::lock_guard lock(queue_->mutex);
    if (queue_->lines.size() >= kQueuedMax) {
        ++queue_->dropped;
        return;
    }
    if (queue_->dropped > 0) line["dropped_before"] = std::exchange(queue_->dropped, 0);
    queue_->lines.push_back(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    queue_->changed.notify_all();
}

void EventLog::write_limited(Level level, std::string_view event, std::string_view text, const Fields& fields) {
    const auto now = std::chrono::steady_clock::now();
    Rate& rate = rates_.try_emplace(std::string(event), Rate{now, 0, 0}).first->second;
    if (now - rate.since >= std::chrono::seconds(1)) {
        rate.since = now;
        rate.written = 0;
    }
    if (rate.written >= kPerSecondMax) {
        ++rate.left_out;
        return;
    }
    ++rate.written;
    if (rate.left_out == 0) return write(level, event, text, fields);
    Fields more = fields;
    more.emplace_back("left_out", std::to_string(std::exchange(rate.left_out, 0)));
    write(level, event, text, more);
}

}  // namespace tidelock::tidelockd
