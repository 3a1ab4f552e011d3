import { assumeIsolate } from '../../../src/platform.js'
import { WARNING_CODES } from '../../../src/util/codes.js'
import { forgetWarnings, warnOnce } from '../../../src/util/warn-once.js'

const CODE = 'HEADGATE_NO_BODY'
const SEE = 'See https://headgate.github.io/headgate/troubleshooting#headgate_no_body'

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
  for (let i = 0; i < 3; i++) warnOnce(CODE, `headgate: this happened (${i}).`)
  expect(emitted).toEqual([[`headgate: this happened (0). ${SEE}`, { type: 'HeadgateWarning', code: CODE }]])
})

test('each code is emitted once, with its own URL', () => {
  for (const code of [...WARNING_CODES, ...WARNING_CODES]) warnOnce(code, `headgate: ${code}.`)
  const urls = WARNING_CODES.map((code) => SEE.replace('headgate_no_body', code.toLowerCase()))
  expect(emitted.map(([message]) => message)).toEqual(
    WARNING_CODES.map((code, i) => `headgate: ${code}. ${urls[i]}`),
  )
})

test('text of a client in a warning neither steers a terminal nor ends the line', () => {
  warnOnce(CODE, 'headgate: a listener threw (\u009b2J\r\n\u2028\u202e).')
  expect(emitted[0]?.[0]).toBe(`headgate: a listener threw (\\u009b2J\\u000d\\u000a\\u2028\\u202e). ${SEE}`)
})

describe('a warning is logged, with its code', () => {
  const logged = () => jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const warnTwice = () => {
    for (let i = 0; i < 2; i++) warnOnce(CODE, 'headgate: this happened.')
  }

  test('where the platform has no process warnings', () => {
    const { calls } = logged().mock
    const { emitWarning } = process
    Reflect.deleteProperty(process, 'emitWarning')
    warnTwice()
    process.emitWarning = emitWarning
    expect(calls).toEqual([[`[${CODE}] headgate: this happened. ${SEE}`]])
  })

  test('where the platform emits process warnings and prints none', () => {
    const { calls } = logged().mock
    assumeIsolate(true)
    warnTwice()
    assumeIsolate(undefined)
    expect({ calls, emitted }).toMatchObject({
      calls: [[`[${CODE}] headgate: this happened. ${SEE}`]],
      emitted: [[`headgate: this happened. ${SEE}`, { code: CODE }]],
    })
  })

  test('nowhere else', () => {
    const { calls } = logged().mock
    warnTwice()
    expect(calls).toEqual([])
  })
})
