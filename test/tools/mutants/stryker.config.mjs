// @ts-check
import { join } from 'node:path'
import { ROOMS } from './rooms.mjs'

const { tests } = ROOMS[process.env.ROOM ?? '']

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: JSON.parse(process.env.MUTATE ?? '[]'),
  testRunner: 'jest',
  coverageAnalysis: 'perTest',
  ignoreStatic: true, // a mutant of what runs once at import would need all tests in a fresh process
  jest: {
    projectType: 'custom',
    config: {
      projects: [],
      testEnvironment: 'node',
      setupFiles: ['<rootDir>/test/tools/mutants/setup.ts'],
      transform: {
        '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
      },
      moduleNameMapper: { '^headgate$': '<rootDir>/src/index.ts', '^(\\.{1,2}/.*)\\.js$': '$1' },
      testMatch: tests.map((path) => `<rootDir>/${path}{.test.ts,/**/*.test.ts}`),
      testPathIgnorePatterns: ['\\.alone\\.test\\.ts$', '/e2e/(demo|login-csrf|docs|examples|package)'],
    },
  },
  concurrency: 2,
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 15,
  reporters: ['json', 'progress-append-only', 'clear-text'],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: join('.cache/mutants', `${process.env.ROOM}.json`) },
  tempDirName: '.cache/stryker',
  tsconfigFile: 'none', // Stryker would rewrite it through an API that TypeScript 7 does not have
  allowConsoleColors: false,
}
