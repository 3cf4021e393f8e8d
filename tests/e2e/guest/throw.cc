// SPDX-License-Identifier: MIT
// C++ exceptions through frames with destructors, virtual calls, a container.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

struct shape {
    virtual ~shape() = default;
    virtual int area() const = 0;
};
struct square : shape {
    int side;
    explicit square(int s) : side(s) {}
    int area() const override { return side * side; }
};
struct unit : shape {
    int area() const override { return 1; }
};

static int live;
struct guard {
    guard() { live++; }
    ~guard() { live--; }
};

static int fall(int n, const shape &s)
{
    guard g;
    if (n == 0)
        throw std::runtime_error("area " + std::to_string(s.area()));
    return fall(n - 1, s) + 1;
}

int main()
{
    std::map<std::string, int> seen;
    for (int i = 0; i < 30; i++) {
        const square q(i);
        const unit u;
        try {
            fall(i, i % 3 ? static_cast<const shape &>(q) : u);
        } catch (const std::exception &e) {
            seen[e.what()]++;
        }
    }
    std::printf("%zu %d\n", seen.size(), live);
    return 0;
}
