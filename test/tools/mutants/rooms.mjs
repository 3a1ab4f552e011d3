/** The rooms whose decisions mutation tests hold: their sources, and the tests that need no server. */
export const ROOMS = {
  policies: { sources: 'src/policies', tests: ['test/unit/policies', 'test/properties'] },
  keys: { sources: 'src/keys', tests: ['test/unit/keys', 'test/e2e/hostile-addresses', 'test/e2e/rules'] },
  http: {
    sources: 'src/http',
    tests: ['test/unit/http', 'test/e2e/count', 'test/e2e/middleware', 'test/e2e/next', 'test/e2e/rules'],
  },
  limiter: {
    sources: 'src/limiter',
    tests: [
      'test/unit/limiter',
      'test/unit/options',
      'test/unit/resilience',
      'test/e2e/several-limits',
      'test/e2e/store-errors',
    ],
  },
  resilience: { sources: 'src/resilience', tests: ['test/unit/resilience', 'test/unit/limiter'] },
  memory: { sources: 'src/stores/memory', tests: ['test/unit/stores/memory'] },
  login: { sources: 'src/login', tests: ['test/unit/login'] },
}
