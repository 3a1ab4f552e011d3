import { callback } from '../../../src/options/option-table.js'

test('an optional function is a function or undefined, and nothing else', () => {
  expect(() => callback('someone', 'skip', undefined)).not.toThrow()
  expect(() => callback('someone', 'skip', () => true)).not.toThrow()
  for (const wrong of [null, true, '/health', {}])
    expect(() => callback('someone', 'skip', wrong)).toThrow(/^someone: skip must be a function, got /)
})
