/// Questions about one PartitionLog that several stories of LogStore ask.
#pragma once

#include "protocol/storage/log_store.h"

namespace tidelock::storage {

/// Both cuts as one: everything wins over a tail, of two tails the deeper one, of two everythings the later one.
CutRequest merge_cuts(const CutRequest& earlier, const CutRequest& later);
/// Where the records that are in files and still count end (exclusive); held ones follow.
Offset counted_file_end(const PartitionLog& log);
/// The cut that ends `log` at or below `to`, at a boundary of its files; everything if its log start is past that.
CutRequest cut_to_boundary(const PartitionLog& log, Offset to);
/// The latest epoch of the history that is in a durable journal commit.
LeaderEpoch durable_epoch(const PartitionLog& log);
/// Notes that history entries starting at `from` or past it were removed, for the journal's next commit.
void note_history_cut(PartitionLog& log, Offset from);
/// Removes held batches at and past `to`, or past the start of the batch holding it.
void drop_held_from(PartitionLog& log, Offset to);
/// Puts what the journal's next commit has to say about `log` into `writer`, and notes that it is said.
void journal_partition(PartitionLog& log, CommitWriter& writer, bool is_snapshot);

}  // namespace tidelock::storage
