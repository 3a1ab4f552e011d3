import { getEventListeners } from 'node:events'
import { onAbort } from '../../../src/util/on-abort.js'

test('all callbacks of a signal are called by one listener, and none that was cancelled', () => {
  const controller = new AbortController()
  const { signal } = controller
  const calls: number[] = []
  const cancels = [0, 1, 2].map((i) => onAbort(signal, () => calls.push(i)))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  cancels[1]?.()
  controller.abort()
  expect(calls).toEqual([0, 2])
})

test('the listener is removed with the last callback, and added again for the next one', () => {
  const controller = new AbortController()
  const { signal } = controller
  const calls: string[] = []
  onAbort(signal, () => calls.push('cancelled'))()
  expect(getEventListeners(signal, 'abort')).toEqual([])
  onAbort(signal, () => calls.push('called'))
  controller.abort()
  expect(calls).toEqual(['called'])
})
