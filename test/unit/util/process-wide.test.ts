import { processWide } from '../../../src/util/process-wide.js'

test('copies of the package share what the first of them made', () => {
  const first = processWide('test', () => new Set())
  expect(processWide('test', () => new Set())).toBe(first)
  expect(processWide('test.other', () => new Set())).not.toBe(first)
  jest.isolateModules(() => {
    const copy = require('../../../src/util/process-wide.js')
    expect(copy.processWide).not.toBe(processWide)
    expect(copy.processWide('test', () => new Set())).toBe(first)
  })
})
