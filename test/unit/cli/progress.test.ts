import { bytesText } from '../../../src/cli/progress.js'

test.each([
  [210e6, 500e6, ' 42 % [########            ] 210 of 500 MB'],
  [500e6, 500e6, '100 % [####################] 500 of 500 MB'],
  [700e6, 500e6, '100 % [####################] 700 of 500 MB'],
  [210e6, undefined, '210 MB read'],
  [0, 0, '0 MB read'],
])('%d of %d bytes', (bytes, total, shown) => {
  expect(bytesText(bytes, total)).toBe(shown)
})
