import type * as Defer from '../../../src/util/defer.js'

/** Loads the functions that defer as on an isolate. */
function deferOfIsolate(): typeof Defer {
  let defer: typeof Defer | undefined
  jest.isolateModules(() => {
    const { assumeIsolate } = require('../../../src/platform.js')
    assumeIsolate(true)
    defer = require('../../../src/util/defer.js')
  })
  if (defer === undefined) throw new Error('not loaded')
  return defer
}

const { afterCode, afterTurn, pause } = deferOfIsolate()

test('on an isolate, a callback comes after the code, and after the turn', async () => {
  const seen: string[] = []
  const turn = new Promise<void>((resolve) =>
    afterTurn(() => {
      seen.push('turn')
      resolve()
    }),
  )
  afterCode(() => seen.push('code'))
  seen.push('now')
  await turn
  expect(seen).toEqual(['now', 'code', 'turn'])
})

test('on an isolate, a pause ends, by its own timers', async () => {
  const timers = jest.spyOn(globalThis, 'setTimeout')
  await pause(1)
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([1])
})

test('where there are no timers while modules load, a turn ends with the code', async () => {
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope')
  })
  const seen: string[] = []
  afterTurn(() => seen.push('turn'))
  seen.push('now')
  await Promise.resolve()
  expect(seen).toEqual(['now', 'turn'])
})
