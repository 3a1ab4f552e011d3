import { forgetWarnings, warnOnce } from '../../../src/util/warn-once.js'

let emitted: unknown[][]
beforeEach(() => {
  forgetWarnings()
  emitted = []
  jest.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => {
    emitted.push(args)
  })
})
afterEach(() => {
  jest.restoreAllMocks()
})

test('a warning is emitted once, with a stable code', () => {
  for (let i = 0; i < 3; i++) warnOnce('HEADGATE_TEST', `headgate: this happened (${i})`)
  expect(emitted).toEqual([
    ['headgate: this happened (0)', { type: 'HeadgateWarning', code: 'HEADGATE_TEST' }],
  ])
})

test('each code is emitted once', () => {
  for (const code of ['HEADGATE_A', 'HEADGATE_B', 'HEADGATE_A'] as const) warnOnce(code, code)
  expect(emitted.map(([message]) => message)).toEqual(['HEADGATE_A', 'HEADGATE_B'])
})

test('where the platform has no process warnings, a warning is logged, with its code', () => {
  const logged = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { emitWarning } = process
  Reflect.deleteProperty(process, 'emitWarning')
  try {
    for (let i = 0; i < 3; i++) warnOnce('HEADGATE_TEST', 'headgate: this happened')
  } finally {
    process.emitWarning = emitWarning
  }
  expect(logged.mock.calls).toEqual([['[HEADGATE_TEST] headgate: this happened']])
})
