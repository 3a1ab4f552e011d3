import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIXED, line, replay, useLogFolder, write } from './replay-logs.js'
import { mustRun } from './run-command.js'

useLogFolder()

/** 60 clients of 11 to 40 requests a minute, and two far above them. */
function busyLog(): string {
  const lines: string[] = []
  for (let client = 0; client < 60; client++)
    lines.push(line(client % 60, `198.51.100.${client}`).repeat(11 + (client % 30)))
  lines.push(line(5, '203.0.113.7').repeat(612), line(7, '2001:db8:7::1').repeat(240))
  return lines.join('')
}

test('--suggest sets the largest clients apart, as docs/replay.md shows it', async () => {
  const text = await mustRun('replay', write('busy.log', busyLog()), ...FIXED, '--suggest')
  const [, suggestions = ''] = text.split(/^(?=smallest limits)/m)
  const page = readFileSync(join(__dirname, '../../../docs/replay.md'), 'utf8')
  expect(page).toContain(`\`\`\`text\n${suggestions}\`\`\`\n`)
})

test('the limits without them are those of a log without them', async () => {
  const all = busyLog()
  const args = [...FIXED, '--suggest']
  const { suggestions } = await replay(write('all.log', all), ...args)
  const others = all.replaceAll(/^(?:203\.|2001:).*\n/gm, '')
  const { suggestions: without } = await replay(write('others.log', others), ...args)
  expect(suggestions?.withoutLargest).toEqual({
    largestClients: 2,
    largest: [
      { client: '203.0.113.7', most: 612 },
      { client: '2001:db8:7::/56', most: 240 },
    ],
    requests: without?.requests,
    clients: without?.clients,
  })
  expect(without).not.toHaveProperty('withoutLargest')
})
