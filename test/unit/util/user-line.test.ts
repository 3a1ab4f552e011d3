import { userLine } from '../../../src/util/user-line.js'

const stackOf = (...lines: string[]) =>
  ['Error: created here', ...lines.map((line) => `    at ${line}`)].join('\n')

test.each([
  ['an installed package', 'file:///app/node_modules/headgate/dist/esm/', 'js', 'file:///app/dist/main.js'],
  ['a package in CommonJS', '/app/node_modules/headgate/dist/', 'js', '/app/src/main.js'],
  ['a checkout', '/work/limiter/src/', 'ts', '/work/app/src/limiter.ts'],
  [
    'a package in a build that keeps modules',
    '/app/dist/node_modules/headgate/dist/',
    'mjs',
    '/app/dist/main.mjs',
  ],
  ['Windows', 'C:\\app\\node_modules\\headgate\\dist\\', 'js', 'C:\\app\\dist\\main.js'],
])('of %s, the innermost line outside of it is the user’s', (_what, folder, extension, user) => {
  const stack = stackOf(
    `watchCreation (${folder}limiter.${extension}:40:9)`,
    `rateLimit (${folder}http.${extension}:9:1)`,
    `${user}?t=12:3:1`,
    'ModuleJob.run (node:internal/modules/esm/module_job:1:1)',
  )
  expect(userLine(stack)).toBe(`at ${user}:3:1`)
})

test.each(['/app/dist/app.mjs', '/app/src/app.mjs', 'file:///app/dist/headgate.mjs'])(
  'in the bundle %s, the outermost line is the user’s',
  (bundle) => {
    const stack = stackOf(
      `watch (${bundle}:9:1)`,
      `rateLimit (${bundle}:90:1)`,
      `${bundle}:900:1`,
      'node:internal:1:1',
    )
    expect(userLine(stack)).toBe(`at ${bundle}:900:1`)
  },
)

test('without a stack, the place is unknown', () => {
  expect(userLine()).toBe('at an unknown place')
})
