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
