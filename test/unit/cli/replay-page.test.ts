import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { FIXED, LIMIT, line, lines, replay, useLogFolder, write } from './replay-logs.js'
import { failureOf, mustRun, run } from './run-command.js'

useLogFolder()

describe('--html', () => {
  test('writes a page that shows each limit, and leaves the report as it is', async () => {
    const name = write('paged.log', `${lines(0, 1, 2)}${line(3, '"<b>&\'')}${line(3, 'a<b>')}`)
    const plain = await mustRun('replay', name, ...LIMIT)
    const args = [name, ...LIMIT, '--html', 'page.html']
    expect(await mustRun('replay', ...args)).toBe(`${plain}\npage          page.html\n`)
    const page = readFileSync('page.html', 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toContain('<h2 id="limit-0">2 in 1m (fixed-window)</h2>')
    expect(page).toContain('<p>From 2026-11-24 03:00:02Z to 2026-11-24 03:00:02Z.</p>')
    expect(page).toContain('<bdi>192.0.2.1</bdi></td><td class="number">1</td><td class="number">3</td>')
    expect(page).not.toContain('Limits compared')
    expect(page).not.toContain('Smallest limits')
    expect(page).not.toContain('out of order')
    expect(JSON.parse(await mustRun('replay', ...args, '--json'))).toEqual(await replay(name, ...LIMIT))
    expect(readdirSync('.').filter((each) => each.startsWith('.headgate'))).toEqual([])
  })

  test('writes comparisons, late requests and suggestions where there are any', async () => {
    const name = write('paged.log', lines(2, 1, 2, 2))
    await mustRun('replay', name, '--limit', '3', ...LIMIT, '--suggest', '--html', 'page.htm')
    const page = readFileSync('page.htm', 'utf8')
    expect(page).toContain('<caption>Limits compared</caption>')
    expect(page).toMatch(
      /<td class="">3<\/td><td class="number">1 \(25.00%\)<\/td><td class="number">1 \(100.00%\)/,
    )
    expect(page).toContain('<dt>out of order</dt><dd>1, by up to 1 s: sorted</dd>')
    expect(page).toContain('<caption>Smallest limits in 1m (fixed-window)</caption>')
    expect(page).toMatch(/<td class="">0.1%<\/td><td class="number">4 \(denies 0\)<\/td>/)
    expect(page).toContain('<h2 id="limit-1">2 in 1m (fixed-window)</h2>')
    await mustRun('replay', name, ...FIXED, '--suggest', '--html', 'page.htm')
    expect(readFileSync('page.htm', 'utf8')).toContain('<h2 id="requests">Requests</h2>')
  })

  test('of an empty log has no chart and no table of clients', async () => {
    await mustRun('replay', write('empty.log', ''), ...LIMIT, '--html', 'page.html')
    const page = readFileSync('page.html', 'utf8')
    expect(page).toContain('<dt>requests</dt><dd>0</dd>')
    expect(page).not.toMatch(/<svg|Denied most/)
    await mustRun('replay', 'empty.log', ...FIXED, '--suggest', '--html', 'page.html')
    expect(readFileSync('page.html', 'utf8')).not.toContain('<svg')
  })

  test.each([
    ['no-folder/page.html', 'there is no such folder'],
    ['good.log/page.html', 'there is no such folder'],
    ['folder.html', 'it is a folder'],
    [`${'x'.repeat(255)}.html`, 'the name is too long'],
  ])('fails for %s before it reads the log', async (path, reason) => {
    mkdirSync('folder.html', { recursive: true })
    write('good.log', line(0))
    const [code, text] = await failureOf('replay', 'missing.log', ...LIMIT, '--html', path)
    expect([code, text]).toEqual([1, expect.stringMatching(`^cannot (read missing|write .*: ${reason})`)])
    const [, again] = await failureOf('replay', 'good.log', ...LIMIT, '--html', path)
    expect(again).toMatch(new RegExp(`^cannot write .*: ${reason}$`))
  })

  test('of a replay that fails leaves an earlier page as it was', async () => {
    write('page.html', 'an earlier page')
    await failureOf('replay', 'missing.log', ...LIMIT, '--html', 'page.html')
    expect(readFileSync('page.html', 'utf8')).toBe('an earlier page')
    expect(readdirSync('.').filter((each) => each.startsWith('.headgate'))).toEqual([])
  })
})

test('shows its progress on a terminal', async () => {
  const name = write('long.log', lines(0, 1).repeat(20_000))
  let nowMs = 0
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 100))
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
  try {
    const { code, stderr } = await run('replay', name, name, ...LIMIT)
    expect(code).toBe(0)
    const shown = stderr.split('\r\u001b[K')
    expect(shown.at(0)).toBe('')
    expect(shown.at(-1)).toBe('')
    expect(shown.length).toBeGreaterThan(10)
    expect(shown.at(-2)).toMatch(/^( 99|100)% \[#{20}\] 6 of 7 MB$/) // by the last chunk that was read
  } finally {
    Reflect.deleteProperty(process.stderr, 'isTTY')
    clock.mockRestore()
  }
})
