// Stands in for libFuzzer in ordinary builds: every input of the corpus, each with thousands of small damages, and
// random bytes. The inputs are the same in every run, so a failing test fails again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kDamagedInputs = 4000;
constexpr int kRandomInputs = 2000;
constexpr std::uint64_t kRandomBytesMax = 512;

// SplitMix64.
class Dice {
  public:
    std::uint64_t below(std::uint64_t bound) {
        state_ += 0x9E37'79B9'7F4A'7C15ULL;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
        x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
        return (x ^ (x >> 31)) % bound;
    }

  private:
    std::uint64_t state_ = 42;
};

void try_input(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> corpus() {
    std::vector<std::string> inputs;
    const std::filesystem::path folder = TIDELOCK_CORPUS;
    if (!std::filesystem::is_directory(folder)) return inputs;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

void damage_once(Dice& dice, std::string& input) {
    if (input.empty()) {
        input += static_cast<char>(dice.below(256));
        return;
    }
    const std::size_t at = dice.below(input.size());
    switch (dice.below(5)) {
        case 0:
            input[at] = static_cast<char>(dice.below(256));
            break;
        case 1:
            input[at] = static_cast<char>(input[at] ^ (1 << dice.below(8)));
            break;
        case 2:
            input.erase(at, 1 + dice.below(8));
            break;
        case 3:
            input.insert(at, 1 + dice.below(8), static_cast<char>(dice.below(256)));
            break;
        default:
            input.resize(at);
    }
}

}  // namespace

int main() {
    Dice dice;
    const std::vector<std::string> inputs = corpus();
    for (const std::string& input : inputs) try_input(input);
    for (int i = 0; i < kDamagedInputs && !inputs.empty(); ++i) {
        std::string input = inputs[dice.below(inputs.size())];
        const std::uint64_t damages = 1 + dice.below(4);
        for (std::uint64_t damage = 0; damage < damages; ++damage) damage_once(dice, input);
        try_input(input);
    }
    for (int i = 0; i < kRandomInputs; ++i) {
        std::string input(dice.below(kRandomBytesMax), '\0');
        for (char& byte : input) byte = static_cast<char>(dice.below(256));
        try_input(input);
    }
    std::printf("%zu corpus inputs, %d damaged, %d random: all held\n", inputs.size(),
                inputs.empty() ? 0 : kDamagedInputs, kRandomInputs);
    return EXIT_SUCCESS;
}
