export const TEST_STORE_HELP = `Usage: headgate test-store <module> [options]

Runs the tests of headgate's store contract against your own store, such as a cloud service. The default export
of the module is a store, or a function that returns a store or a promise of one.

Each test uses its own keys, which begin with hgtest: and are removed when it ends. Other keys are neither read
nor written. A run sends thousands of operations, so a service that bills by request bills you for them.

  --exact              then also start several processes, each of which imports the module, and test that
                       together they admit exactly what each limit allows
  --processes <n>      how many processes --exact starts (default: 4)
  --parallel <n>       how many tests run at once (default: 8)
  --timeout <time>     how long one test may take, such as 30s or 5m (default: 60s)
  --only <text>        run only the tests whose names contain this text
  --not-atomic         the store decides a charge of several keys key by key, as compareAndSwapStore does
  --ascii-keys         the store takes only printable ASCII keys of at most 250 bytes
  --json               print one JSON object

Exit codes: 0 every test passed, 1 a test or the store failed, 2 wrong arguments.
`
