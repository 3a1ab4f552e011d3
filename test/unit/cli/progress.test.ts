import { bytesText, showProgress } from '../../../src/cli/progress.js'

test.each([
  [210e6, 500e6, ' 42% [########            ] 210 of 500 MB'],
  [500e6, 500e6, '100% [####################] 500 of 500 MB'],
  [700e6, 500e6, '100% [####################] 700 of 500 MB'],
  [210e6, undefined, '210 MB read'],
  [0, 0, '0 MB read'],
])('%d of %d bytes', (bytes, total, shown) => {
  expect(bytesText(bytes, total)).toBe(shown)
})

test('a line is shown on a terminal, every 200 ms at most, and removed at the end', () => {
  const written: string[] = []
  const out = {
    isTTY: true,
    write: (text: string) => written.push(text) > 0,
  } as unknown as NodeJS.WriteStream
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1000)
  const progress = showProgress(out, (amount) => `${amount} done`)
  for (const nowMs of [1000, 1199, 1200, 1300, 1400]) {
    clock.mockReturnValue(nowMs)
    progress.add(1)
  }
  progress.end()
  clock.mockRestore()
  expect(written).toEqual(['\r\u001b[K3 done', '\r\u001b[K5 done', '\r\u001b[K'])
})

test('nothing is written to what is no terminal', () => {
  const write = jest.fn()
  const progress = showProgress({ write } as unknown as NodeJS.WriteStream, () => 'done')
  progress.add(1)
  progress.end()
  expect(write).not.toHaveBeenCalled()
})
