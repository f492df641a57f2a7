/// One story under way: its cluster, what its lines said before, and what each line does. Only `run_script`
/// (`script.h`) makes one. Lives in the arena; its lines run between two events of the world, which runs on while a
/// line waits.
///
/// `script_run.cc` goes through the lines and ends the story, `script_calls.cc` is what clients do, `script_actions.cc`
/// what is done to brokers, `script_expectations.cc` what is asked about the cluster. A line that fails answers what is
/// wrong, one that went well answers an empty text.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/history.h"
#include "protocol/broker/observation.h"
#include "scenarios/client.h"
#include "scenarios/cluster.h"
#include "scenarios/script.h"
#include "scenarios/trace_adapter.h"

namespace tidelock::scenarios {

class StoryRun {
  public:
    StoryRun(const Script& script, const Plan& plan, TraceAdapter& trace, bool is_traced);
    StoryRun(const StoryRun&) = delete;
    StoryRun& operator=(const StoryRun&) = delete;

    /// Empty if the story went as told.
    std::string run();
    /// Digest and violations, as they are by now.
    void copy_out(StoryResult& result);

  private:
    using Groups = std::vector<BrokerId>;

    // The lines, and the brokers they name.
    std::string run_line(const ScriptLine& line);
    std::string run_on_brokers(const ScriptLine& line);
    std::string resolve(const std::vector<std::string>& words, Groups& brokers);
    std::string resolve_one(const std::string& word, Groups& brokers);
    std::string resolve_role(const std::string& word, Groups& brokers);

    // Running the world, and the end.
    /// Runs until the question is answered with yes; false if it is not in time.
    bool run_until(Duration at_most, const std::function<bool()>& question);
    void run_for(Duration duration);
    void on_observation(BrokerId broker, const broker::Observation& observation);
    std::string converge();
    std::string end_well();

    // What clients do.
    Client& new_client();
    /// Runs the call on a client of its own. The reply of a call that has not returned in time is "no answer".
    CallReply call(const clients::RequestBody& body, std::optional<BrokerId> via, Duration timeout = seconds(4));
    std::string via_of(const ScriptLine& line, std::optional<BrokerId>& via);
    /// Starts a produce; `*done` holds its outcome once it has returned.
    std::string start_produce(const ScriptLine& line, std::shared_ptr<std::optional<checker::Outcome>> done);
    std::string produce(const ScriptLine& line);
    std::string read(const ScriptLine& line);
    /// Anything that changes something at the leader, tried again while the refusal says that may help.
    /// `done_already`: what the leader says when an earlier try, whose answer was lost, has done it.
    std::string change(const clients::RequestBody& body, Expected expected = Expected::kOk,
                       clients::ErrorCode done_already = clients::ErrorCode::kNone);
    /// A change as the history knows it: one call, however often it had to be sent.
    std::string told_change(decltype(checker::ClientCall::operation) operation, const clients::RequestBody& body,
                            clients::ErrorCode done_already = clients::ErrorCode::kNone);
    std::string change_topic(const ScriptLine& line);
    std::string delete_records(const ScriptLine& line);
    std::string transfer(const ScriptLine& line, BrokerId to);
    std::string commit(const ScriptLine& line);
    std::string committed(const ScriptLine& line);

    // What is done to brokers.
    std::string cut(const ScriptLine& line, const Groups& brokers, const Groups& others);
    void clog(const Groups& brokers, const Groups& others, bool clogs);
    void unclog_all();
    void lose(const ScriptLine& line, const Groups& brokers, const Groups& others);
    std::string on_each(const ScriptLine& line, const Groups& brokers);
    std::string on_one(const ScriptLine& line, BrokerId broker);
    bool start(BrokerId broker);
    std::string on_disk(const ScriptLine& line, sim::Disk& disk);
    void fail_syncs(const ScriptLine& line);
    void command_role(const ScriptLine& line, const Groups& brokers);

    // What is asked about the cluster.
    std::string check(const ScriptLine& line);
    bool is_true(const ScriptLine& line, const Groups& brokers);
    [[nodiscard]] Groups in_sync_brokers() const;
    [[nodiscard]] bool is_raft_leader(const Groups& brokers) const;
    [[nodiscard]] bool is_true_on(const ScriptLine& line, BrokerId id) const;
    std::string unexpected_violation();
    bool has_expected_violation();
    std::string expect_violation();
    /// The cluster in one line, for failures.
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] std::string describe_logs(BrokerId id) const;

    const Script& script_;
    // What the stories of clients use outlives the cluster, whose destructor ends them.
    std::deque<Client> clients_;
    std::vector<std::uint64_t> acked_;
    std::string last_error_;
    Cluster cluster_;
    sim::World& world_;
    std::int32_t next_client_ = kScriptHost;
    std::map<std::string, BrokerId> aliases_;
    std::vector<BrokerId> started_;
    std::map<BrokerId, std::size_t> armed_;  // to be killed at an observation
    std::int64_t elections_ = 0;
    bool is_heal_told_ = false;
};

}  // namespace tidelock::scenarios
