#include "sim/fiber.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "protocol/base/check.h"
#include "sim/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define TIDELOCK_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TIDELOCK_ADDRESS_SANITIZED 1
#endif
#endif

#ifdef TIDELOCK_ADDRESS_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

namespace tidelock::sim {
namespace {

namespace context = boost::context::detail;

constexpr std::uint64_t kGuard = 0x6775'6172'6464'6F67ULL;
constexpr std::size_t kGuardBytes = 16;
constexpr std::size_t kSanitizedStackBytes = 512 << 10;
constexpr std::size_t kBlockHeaderBytes = 16;  // keeps a stack of 2^n bytes in the arena's size class for 2^n

// The address sanitizer wants to know which stack is current; elsewhere these are empty.
#ifdef TIDELOCK_ADDRESS_SANITIZED
void announce_switch(void** fake_stack, const void* stack, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
}
void confirm_switch(void* fake_stack, const void** old_stack, std::size_t* old_bytes) {
    __sanitizer_finish_switch_fiber(fake_stack, old_stack, old_bytes);
}
#else
void announce_switch(void**, const void*, std::size_t) {}
void confirm_switch(void*, const void**, std::size_t*) {}
#endif

}  // namespace

Fiber::Fiber(std::function<void()> story, std::size_t stack_bytes)
    : story_(std::move(story)),
      stack_bytes_(kArenaEnabled ? stack_bytes - kBlockHeaderBytes : std::max(stack_bytes, kSanitizedStackBytes)) {
    stack_ = static_cast<std::byte*>(::operator new(stack_bytes_));
    std::memcpy(stack_, &kGuard, sizeof kGuard);
    context_ = context::make_fcontext(stack_ + stack_bytes_, stack_bytes_, &Fiber::enter);
}

Fiber::~Fiber() {
    ::operator delete(stack_);
}

void Fiber::enter(context::transfer_t from) {
    Fiber& self = *static_cast<Fiber*>(from.data);
    self.context_ = from.fctx;
    confirm_switch(nullptr, &self.resumer_stack_, &self.resumer_stack_bytes_);
    self.story_();
    self.is_finished_ = true;
    announce_switch(nullptr, self.resumer_stack_, self.resumer_stack_bytes_);
    context::jump_fcontext(self.context_, nullptr);
}

void Fiber::resume() {
    CHECK(!is_finished_);
    CHECK(!is_running_);
    is_running_ = true;
    void* own_fake_stack = nullptr;
    announce_switch(&own_fake_stack, stack_, stack_bytes_);
    context_ = context::jump_fcontext(context_, this).fctx;
    confirm_switch(own_fake_stack, nullptr, nullptr);
    is_running_ = false;
    check_guard();
}

void Fiber::suspend() {
    CHECK(is_running_);
    announce_switch(&sanitizer_fake_stack_, resumer_stack_, resumer_stack_bytes_);
    context_ = context::jump_fcontext(context_, nullptr).fctx;
    confirm_switch(sanitizer_fake_stack_, &resumer_stack_, &resumer_stack_bytes_);
}

Fiber::DeadStack Fiber::dead_stack() const {
    CHECK(!is_running_);
    return DeadStack{stack_ + kGuardBytes, static_cast<const std::byte*>(context_)};
}

void Fiber::check_guard() const {
    std::uint64_t guard = 0;
    std::memcpy(&guard, stack_, sizeof guard);
    const bool stack_did_not_overflow = guard == kGuard;
    CHECK(stack_did_not_overflow);
}

}  // namespace tidelock::sim
