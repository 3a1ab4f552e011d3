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

test('text of a client in a warning neither steers a terminal nor ends the line', () => {
  warnOnce('HEADGATE_TEST', 'headgate: a listener threw (\u009b2J\r\n\u2028\u202e).')
  expect(emitted[0]?.[0]).toBe('headgate: a listener threw (\\u009b2J\\u000d\\u000a\\u2028\\u202e).')
})

describe('a warning is logged, with its code', () => {
  const logged = () => jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const warnTwice = () => {
    for (let i = 0; i < 2; i++) warnOnce('HEADGATE_TEST', 'headgate: this happened')
  }

  test('where the platform has no process warnings', () => {
    const { calls } = logged().mock
    const { emitWarning } = process
    Reflect.deleteProperty(process, 'emitWarning')
    warnTwice()
    process.emitWarning = emitWarning
    expect(calls).toEqual([['[HEADGATE_TEST] headgate: this happened']])
  })

  test('where the platform emits process warnings and prints none', () => {
    const { calls } = logged().mock
    const navigator = { value: { userAgent: 'Cloudflare-Workers' }, configurable: true }
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', navigator)
    warnTwice()
    if (before === undefined) Reflect.deleteProperty(globalThis, 'navigator')
    else Object.defineProperty(globalThis, 'navigator', before)
    expect({ calls, emitted }).toMatchObject({
      calls: [['[HEADGATE_TEST] headgate: this happened']],
      emitted: [['headgate: this happened', { code: 'HEADGATE_TEST' }]],
    })
  })

  test('nowhere else', () => {
    const { calls } = logged().mock
    warnTwice()
    expect(calls).toEqual([])
  })
})
