/// A story in progress: a stack of its own and the place where it stopped. Stacks come from operator new, so in a world
/// they lie in the arena and are part of a snapshot.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tidelock::sim {

/// Runs `story` on its own stack, one slice at a time. Not movable: the story's stack points at it.
class Fiber {
  public:
    Fiber(std::function<void()> story, std::size_t stack_bytes);
    /// The story must have returned, or never have been started (or the whole arena is about to be reset).
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs the story until it suspends or returns. Called from outside it: the world's loop, or another fiber.
    void resume();
    /// Gives control back to whoever resumed. Called inside the story, never in an exception handler.
    void suspend();

    [[nodiscard]] bool is_finished() const { return is_finished_; }
    [[nodiscard]] bool is_running() const { return is_running_; }

    /// The part of the stack below the suspended story's frames: its content means nothing, so a snapshot leaves it
    /// out.
    struct DeadStack {
        const std::byte* from;
        const std::byte* to;  // exclusive
    };
    [[nodiscard]] DeadStack dead_stack() const;

  private:
    static void enter(boost::context::detail::transfer_t from);
    void check_guard() const;

    boost::context::detail::fcontext_t context_ = nullptr;  // where the story stopped; while it runs, who resumed it
    std::function<void()> story_;
    std::byte* stack_ = nullptr;  // lowest byte
    std::size_t stack_bytes_;
    bool is_finished_ = false;
    bool is_running_ = false;
    // Used by sanitized builds only.
    void* sanitizer_fake_stack_ = nullptr;
    const void* resumer_stack_ = nullptr;
    std::size_t resumer_stack_bytes_ = 0;
};

}  // namespace tidelock::sim
