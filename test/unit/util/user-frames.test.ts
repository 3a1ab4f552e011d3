import { userFrames, userLine } from '../../../src/util/user-frames.js'

const MODULE = 'limiter/shared-name'
const stackOf = (...lines: string[]) =>
  ['Error: created here', ...lines.map((line) => `    at ${line}`)].join('\n')

test.each([
  ['an installed package', 'file:///app/node_modules/headgate/dist/', 'js', 'file:///app/dist/main.js'],
  ['a package in CommonJS', '/app/node_modules/headgate/dist/', 'js', '/app/src/main.js'],
  ['a checkout', '/work/limiter/src/', 'ts', '/work/app/src/limiter/shared-name.ts'],
  [
    'a package in a build that keeps modules',
    '/app/dist/node_modules/headgate/dist/',
    'mjs',
    '/app/dist/main.mjs',
  ],
  ['Windows', 'C:\\app\\node_modules\\headgate\\dist\\', 'js', 'C:\\app\\dist\\main.js'],
])('of %s, the frames outside of it are the user’s', (_what, folder, extension, user) => {
  const separator = folder.includes('\\') ? '\\' : '/'
  const stack = stackOf(
    `registerName (${folder}limiter${separator}shared-name.${extension}:40:9)`,
    `rateLimit (${folder}http.${extension}:9:1)`,
    `${user}?t=12:3:1`,
    'ModuleJob.run (node:internal/modules/esm/module_job:1:1)',
  )
  expect(userFrames(MODULE, stack)).toEqual([`at ${user}:3:1`])
})

test.each(['/app/dist/app.mjs', '/app/src/app.mjs', 'file:///app/dist/headgate.mjs'])(
  'in the bundle %s, all frames may be the user’s, and the outermost is',
  (bundle) => {
    const stack = stackOf(
      `watch (${bundle}:9:1)`,
      `rateLimit (${bundle}:90:1)`,
      `${bundle}:900:1`,
      'node:internal:1:1',
    )
    expect(userLine(MODULE, stack)).toBe(`at ${bundle}:900:1`)
    expect(userFrames(MODULE, stack)).toHaveLength(3)
  },
)

test('without a stack, the place is unknown', () => {
  expect(userLine(MODULE)).toBe('at an unknown place')
})
