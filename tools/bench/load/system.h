/// A system under load, as the load generator sees it: records go in, acknowledgements come out. One implementation a
/// protocol, each with the least that its producers need.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/base/result.h"
#include "tools/bench/load/channel.h"
#include "tools/bench/load/options.h"
#include "tools/bench/load/payload.h"

namespace tidelock::load {

/// Records with numbers that follow each other, sent as one request.
struct RecordRange {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
};

/// Where a record is, in systems that say so. An offset of -1: not said.
struct Place {
    std::int32_t partition = 0;
    std::int64_t offset = -1;
    bool operator==(const Place&) const = default;
};

/// Takes what becomes of records.
class Outcomes {
  public:
    virtual ~Outcomes() = default;
    /// The system has promised to keep these. `place` is that of the first.
    virtual void on_acknowledged(RecordRange range, Place place) = 0;
};

/// A record that was read back, and where it lay.
using Reader = std::function<void(const Stamp& stamp, Place place)>;

class System {
  public:
    virtual ~System() = default;
    /// Connects to whoever takes records, anew when it was connected, and sees that there is something to put them in.
    /// What was sent before and not acknowledged is forgotten, save how it was numbered. Empty: ready; else why not
    /// yet.
    virtual std::string connect() = 0;
    /// Sends these, at once or with the next `wait`. The same range again after a `connect` is the same records.
    virtual void send(RecordRange range, std::int64_t made_ns) = 0;
    /// Waits for something to happen, and tells it. Empty: fine; else why `connect` is needed.
    virtual std::string wait(std::int64_t patience_ns, Outcomes& outcomes) = 0;
    /// Which of the brokers, counted from 0, has to be there for records to be taken.
    virtual Result<std::size_t, std::string> leader() = 0;
    /// Everything that is there, from the beginning. Empty: done.
    virtual std::string read_back(const Reader& reader) = 0;
    /// Most records of a request.
    [[nodiscard]] virtual std::uint32_t batch_records_max() const { return 1; }
};

/// `payload` and `options` must outlive it.
std::unique_ptr<System> make_kafka(const Options& options, Payload& payload);
std::unique_ptr<System> make_nats(const Options& options, Payload& payload);
std::unique_ptr<System> make_amqp(const Options& options, Payload& payload);
std::unique_ptr<System> make_etcd(const Options& options, Payload& payload);
std::unique_ptr<System> make_redis(const Options& options, Payload& payload);
std::unique_ptr<System> make_system(const Options& options, Payload& payload);

}  // namespace tidelock::load
