#include "tools/bench/load/survey.h"

namespace tidelock::load {

Surveyor::Surveyor(std::uint64_t run, const std::vector<Place>& acknowledged)
    : run_(run), acknowledged_(acknowledged), times_(acknowledged.size()), is_in_place_(acknowledged.size()) {}

void Surveyor::on_record(const Stamp& stamp, Place place) {
    if (stamp.run != run_ || stamp.record >= times_.size()) return;
    ++times_[stamp.record];
    const Place& promised = acknowledged_[stamp.record];
    if (promised.offset < 0 || promised == place) is_in_place_[stamp.record] = true;
}

Survey Surveyor::finish() const {
    Survey survey;
    for (std::size_t i = 0; i < times_.size(); ++i) {
        const bool is_promised = acknowledged_[i].offset != kNotAcknowledged;
        if (times_[i] > 0) ++survey.found;
        if (times_[i] > 1) survey.duplicates += times_[i] - 1;
        if (is_promised && times_[i] == 0) ++survey.lost;
        if (is_promised && times_[i] > 0 && !is_in_place_[i]) ++survey.misplaced;
    }
    return survey;
}

}  // namespace tidelock::load
