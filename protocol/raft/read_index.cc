// Reads that no successor can have made stale (Raft thesis 6.4): before one is answered, a majority has to answer
// something that this leader sent after the read came. Clocks have no part in it, so a leader that sleeps or whose
// clock stands still tells nothing old.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/quorum.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

/// One round is under way at a time; whoever asks meanwhile shares the next.
void begin_round_if_due(Step& s, Leader& leader) {
    if (leader.sent_round > leader.confirmed_round || leader.asked_round == leader.sent_round) return;
    leader.sent_round = leader.asked_round;
    broadcast(s, true);
}

void confirm(Step& s, Leader& leader) {
    const ReadRound round = answered_round(s.node, leader);
    if (round <= leader.confirmed_round) return;
    leader.confirmed_round = round;
    // Appends on their own business carry the newest round too and may have been faster.
    leader.sent_round = std::max(leader.sent_round, round);
    emit(s, LeadershipConfirmed{round});
    begin_round_if_due(s, leader);
}

}  // namespace

void on_confirmation_requested(Step& s, ReadRound round) {
    Leader* leader = std::get_if<Leader>(&s.node.role);
    if (leader == nullptr) return;
    CHECK(round > leader->asked_round);
    leader->asked_round = round;
    begin_round_if_due(s, *leader);
    confirm(s, *leader);
}

void note_read_round(Step& s, Leader& leader, Progress& progress, Participation participation, ReadRound round) {
    if (participation != Participation::kVoter || round <= progress.read_round || round > leader.asked_round) return;
    progress.read_round = round;
    confirm(s, leader);
}

}  // namespace tidelock::raft
