/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'

const NEVER = ['/node_modules/', '<rootDir>/test/e2e/package/consumers/']
/** The folders whose tests use MariaDB and PostgreSQL: all files share one server of each. */
const ON_DATABASES = ['mysql', 'postgres', 'sql'].map((name) => `<rootDir>/test/integration/${name}/`)

const common: Config = {
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/.cache/'], // packages that tests unpack have names of ours
  testRunner: '<rootDir>/test/support/left-out/test-runner.cjs',
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
    '/src/dashboard/page/.+\\.js$': ['@swc/jest', { jsc: { target: 'es2022' } }], // modules of browsers
  },
  resolver: '<rootDir>/test/support/resolver.cjs',
  moduleNameMapper: {
    '^headgate$': '<rootDir>/src/index.ts',
    '^headgate/(.*)$': '<rootDir>/src/$1.ts',
    '^file://(/.*)$': '$1', // what `import()` of a URL becomes
  },
}

/**
 * The tests in `*.test.ts`, or those in `*.long.test.ts`, which take too long to run at every change. Files
 * that end in `.alone.test.ts` have deadlines that they keep under load: they have the machine to themselves.
 */
export function configFor(length: 'short' | 'long'): Config {
  const suffix = length === 'long' ? '.long' : ''
  const others = length === 'long' ? [] : ['\\.long\\.(alone\\.)?test\\.ts$']
  return {
    maxWorkers: 4, // many of them wait for servers
    testTimeout: 120_000, // longer than a busy machine takes
    workerIdleMemoryLimit: '2GB', // not all that a file loads is freed after it
    reporters: ['default', '<rootDir>/test/support/left-out/reporter.cjs'],
    projects: [
      {
        ...common,
        displayName: 'together',
        testMatch: [`<rootDir>/test/**/*${suffix}.test.ts`],
        testPathIgnorePatterns: [...NEVER, ...others, '\\.alone\\.test\\.ts$', ...ON_DATABASES],
      },
      {
        ...common,
        displayName: 'databases',
        testMatch: ON_DATABASES.map((folder) => `${folder}**/*${suffix}.test.ts`),
        testPathIgnorePatterns: [...NEVER, ...others, '\\.alone\\.test\\.ts$'],
        globalSetup: '<rootDir>/test/support/servers/shared-databases.cjs',
        globalTeardown: '<rootDir>/test/support/servers/end-shared-databases.cjs',
      },
      {
        ...common,
        displayName: 'alone',
        testMatch: [`<rootDir>/test/**/*${suffix}.alone.test.ts`],
        testPathIgnorePatterns: [...NEVER, ...others],
        runner: '<rootDir>/test/support/serial-runner.cjs',
      },
    ],
  }
}

export default configFor('short')
