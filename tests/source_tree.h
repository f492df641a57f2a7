/// The project's own source files, for tests that judge text.
#pragma once

#include <string>
#include <vector>

namespace tidelock::tests {

struct SourceFile {
    std::string path;  // from the root, "protocol/raft/raft.cc"
    std::vector<std::string> lines;
};

/// Every .cc and .h under `folders`, sorted by path.
std::vector<SourceFile> source_files(const std::vector<std::string>& folders);

/// Every file of the tree that people read: sources, scripts, documents, configuration.
std::vector<SourceFile> text_files();

/// `line` without string and character literals and without what follows `//`. Block comments are not used here.
std::string code_of(const std::string& line);

}  // namespace tidelock::tests
