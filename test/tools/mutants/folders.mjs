/**
 * The folders that mutation tests change: their sources in TypeScript, and those of their tests that need no server
 * and no browser. The scripts of the dashboard's page run in a browser, and have no others.
 */
export const FOLDERS = {
  policies: { sources: 'src/policies', tests: ['test/unit/policies', 'test/properties'] },
  keys: { sources: 'src/keys', tests: ['test/unit/keys', 'test/e2e/hostile-addresses', 'test/e2e/rules'] },
  http: {
    sources: 'src/http',
    tests: ['test/unit/http', 'test/e2e/count', 'test/e2e/middleware', 'test/e2e/next', 'test/e2e/rules'],
  },
  features: { sources: 'src/features', tests: ['test/unit/features', 'test/unit/limiter'] },
  limiter: {
    sources: 'src/limiter',
    tests: [
      'test/unit/limiter',
      'test/unit/features',
      'test/unit/options',
      'test/unit/pipe',
      'test/e2e/several-limits',
      'test/e2e/store-errors',
    ],
  },
  pipe: { sources: 'src/pipe', tests: ['test/unit/pipe', 'test/unit/features'] },
  lease: { sources: 'src/pipe/lease', tests: ['test/unit/pipe'] },
  memory: { sources: 'src/stores/memory', tests: ['test/unit/stores/memory'] },
  login: { sources: 'src/login', tests: ['test/unit/login'] },
  adapters: {
    sources: 'src/adapters',
    tests: [
      'test/unit/adapters',
      'test/e2e/koa',
      ...['answers', 'applications', 'checks', 'differences', 'traps'].map(
        (name) => `test/e2e/express-rate-limit/${name}`,
      ),
    ],
  },
  cli: { sources: 'src/cli', tests: ['test/unit/cli'] },
  dashboard: {
    sources: 'src/dashboard',
    tests: ['test/unit/dashboard'],
  },
  metrics: { sources: 'src/metrics', tests: ['test/unit/metrics'] },
}
