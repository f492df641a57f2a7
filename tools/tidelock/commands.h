/// One function a command. Each returns what the program exits with.
#pragma once

#include <string>

#include "tools/tidelock/engine.h"
#include "tools/tidelock/options.h"

namespace tidelock::tools {

/// `program` is how the user called it, for commands in the output.
int run_command(const Engine& engine, const CampaignOptions& options, const std::string& program);
int replay_command_line(const Engine& engine, const ReplayOptions& options);
/// `what` is one of "scenarios", "stories", "invariants", "faults", "marks".
int list_command(const Engine& engine, const std::string& what);
int live_command(const Engine& engine, const LiveCommandOptions& options, const std::string& program);
int merge_command(const MergeOptions& options, const std::string& program);

/// Reads the command line and carries it out.
int run_program(const Engine& engine, int argc, const char* const* argv);

}  // namespace tidelock::tools
