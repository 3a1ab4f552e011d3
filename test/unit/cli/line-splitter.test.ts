import { LineSplitter } from '../../../src/cli/log/line-splitter.js'

function split(bytes: Buffer, chunkLength: number) {
  const lines: (string | undefined)[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  for (let at = 0; at < bytes.length; at += chunkLength) splitter.push(bytes.subarray(at, at + chunkLength))
  splitter.end()
  return lines
}

const CASES: [string, string[]][] = [
  ['', []],
  ['one', ['one']],
  ['one\n', ['one']],
  ['one\ntwo', ['one', 'two']],
  ['one\r\ntwo\r\n', ['one', 'two']],
  ['\n\r\n\n', ['', '', '']],
  ['a\rb\n', ['a\rb']],
]

test.each(CASES)('%j, however it is cut into chunks', (text, lines) => {
  for (let length = 1; length <= text.length + 1; length++)
    expect(split(Buffer.from(text), length)).toEqual(lines)
})

test('a character that lies in two chunks stays whole', () => {
  const [line = ''] = split(Buffer.from('josé\n'), 4)
  expect(Buffer.from(line, 'latin1').toString()).toBe('josé')
})

test('a line of 1 MB is one line, and one of 5 MB none', () => {
  const long = 'x'.repeat(1_000_000)
  expect(split(Buffer.from(`a\n${long}\nb`), 65_536)).toEqual(['a', long, 'b'])
  const tooLong = Buffer.from(`a\n${'x'.repeat(5_000_000)}\nb`)
  expect(split(tooLong, 65_536)).toEqual(['a', undefined, 'b'])
  expect(split(tooLong, 10_000_000)).toEqual(['a', undefined, 'b'])
})
