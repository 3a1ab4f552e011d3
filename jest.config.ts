/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'

const NEVER = ['/node_modules/', '<rootDir>/test/e2e/package/consumers/']

const common: Config = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
  },
  moduleNameMapper: {
    '^headgate$': '<rootDir>/src/index.ts',
    '^headgate/(.*)$': '<rootDir>/src/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
}

/** Tests with deadlines that they keep under load have the machine to themselves; of all others three files run at a time. */
const config: Config = {
  maxWorkers: 3, // many of them wait for servers
  testTimeout: 30_000,
  workerIdleMemoryLimit: '1GB', // not all that a file loads is freed after it
  projects: [
    {
      ...common,
      displayName: 'together',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [...NEVER, '\\.alone\\.test\\.ts$'],
    },
    {
      ...common,
      displayName: 'alone',
      testMatch: ['<rootDir>/test/**/*.alone.test.ts'],
      testPathIgnorePatterns: NEVER,
      runner: '<rootDir>/test/support/serial-runner.cjs',
    },
  ],
}

export default config
