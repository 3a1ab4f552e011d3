export const TEST_STORE_HELP = `Usage: headgate test-store <module> [options]

Runs the tests of headgate's store contract against your own store, such as one on a cloud service. The default
export of the module is a store, or a function that returns a store or a promise of one.

Each test uses its own keys, which begin with hgtest: and are removed when it ends. The command neither reads nor
writes other keys. A run sends thousands of operations, which your service may bill.

  --exact              also start several processes that import the module, and test that together they admit
                       exactly what each limit allows
  --processes <n>      how many processes --exact starts (default: 4)
  --parallel <n>       how many tests run at once (default: 8)
  --timeout <time>     how long one test may take, such as 30s or 5m (default: 60s)
  --only <text>        run only the tests whose names contain this text
  --not-atomic         for a store that decides a charge of several keys one by one, as compareAndSwapStore does
  --ascii-keys         for a store that takes only printable ASCII keys of at most 250 bytes
  --json               print one JSON object

Exit codes: 0 every test passed, 1 a test or the store failed, 2 wrong arguments.
`
