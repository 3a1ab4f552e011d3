// @ts-check
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDERS = JSON.parse(readFileSync(new URL('./folders.json', import.meta.url), 'utf8'))

const { FOLDER = '', MUTATE = '[]', SAMPLE } = process.env
const { tests } = FOLDERS[FOLDER]
const sampleChecker = new URL('./sample-checker.mjs', import.meta.url).href

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: JSON.parse(MUTATE),
  plugins: ['@stryker-mutator/jest-runner', sampleChecker],
  checkers: SAMPLE === undefined ? [] : ['sample'],
  testRunner: 'jest',
  coverageAnalysis: 'perTest',
  ignoreStatic: true, // a mutant of what runs once at import would need all tests in a fresh process
  jest: {
    projectType: 'custom',
    config: {
      projects: [],
      roots: ['<rootDir>/src', '<rootDir>/test'],
      watchman: false,
      testEnvironment: 'node',
      setupFiles: ['<rootDir>/test/tools/mutants/setup.ts'],
      transform: {
        '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
      },
      resolver: '<rootDir>/test/support/resolver.cjs',
      moduleNameMapper: {
        '^headgate$': '<rootDir>/src/index.ts',
        '^headgate/(.*)$': '<rootDir>/src/$1.ts',
      },
      testMatch: tests.map((path) => `<rootDir>/${path}{.test.ts,/**/*.test.ts}`),
      testPathIgnorePatterns: ['\\.alone\\.test\\.ts$'],
    },
  },
  concurrency: 1, // beside others, a mutant that is only slow would count as noticed
  timeoutMS: 60_000, // endless loops end before: Stryker counts how often a mutant runs
  dryRunTimeoutMinutes: 15,
  reporters: ['json', 'progress-append-only', 'clear-text'],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: join('.cache/mutants', `${FOLDER}.json`) },
  tempDirName: '.cache/stryker',
  tsconfigFile: 'none', // Stryker would rewrite it through an API that TypeScript 7 does not have
  allowConsoleColors: false,
}
