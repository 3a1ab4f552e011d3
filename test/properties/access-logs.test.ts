import fc from 'fast-check'
import { AccessLineReader } from '../../src/cli/log/access-line.js'
import { clientAddress } from '../../src/cli/log/client-address.js'
import { parseTemplate } from '../../src/cli/log/format/template.js'
import { TemplateReader } from '../../src/cli/log/format/template-reader.js'
import { emptyRequest } from '../../src/cli/log/request-line.js'

/** What a client may send, with what looks like other parts of a line. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[' ', '"', '\\', '[', ']', '(', ')', ',', '-', ' - - ', '] "', '" "', ') - x ', '\\"', '\u001b'],
        ...['GET / HTTP/1.1', '[28/Nov/1999:10:00:00 +0000]', '28/Nov/1999:10:00:00 +0000', '203.0.113.66'],
        ...['203.0.113.66, ', '1999-11-28T10:00:00Z', '10.0.0.1', 'x', 'é', '\u0000', '"-"'],
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').trim())

const sent = fc.record({
  user: hostileText,
  agent: hostileText,
  referrer: hostileText,
  forwarded: hostileText,
})
type Sent = Record<'user' | 'agent' | 'referrer' | 'forwarded', string>

/** Escapes a value as nginx does. */
function escapedByNginx(text: string): string {
  const bytes = Buffer.from(text).toString('latin1')
  return bytes.replace(
    /["\\]|[^ -~]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

/** Escapes a value as Apache does. */
function escapedByApache(text: string): string {
  const bytes = Buffer.from(text).toString('latin1')
  return bytes.replace(/["\\]|[^ -~]/g, (char) =>
    /["\\]/.test(char) ? `\\${char}` : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

const CLIENT = '198.51.100.7'
const TIME = '28/Nov/2026:10:00:00 +0000'
const REQUEST = '"GET /a?b HTTP/1.1" 200 12'

/** The lines of each format. The load balancer appends the client's address to what it forwarded itself. */
const FORMATS: Readonly<Record<string, (sent: Sent, escaped: (text: string) => string) => string>> = {
  main: ({ user, agent, referrer, forwarded }, escaped) =>
    `10.0.3.4 - ${escaped(user) || '-'} [${TIME}] ${REQUEST} "${escaped(referrer) || '-'}" "${escaped(agent) || '-'}" "${escaped(listOf(forwarded))}"`,
  'Elastic Beanstalk': ({ user, agent, referrer, forwarded }, escaped) =>
    `10.0.3.4 (${escaped(listOf(forwarded))}) - ${escaped(user) || '-'} [${TIME}] ${REQUEST} "${escaped(referrer)}" "${escaped(agent)}"`,
  'a list in quotes in front': ({ user, agent, referrer, forwarded }, escaped) =>
    `"${escaped(listOf(forwarded))}" 10.0.3.4 - ${escaped(user) || '-'} [${TIME}] ${REQUEST} "${escaped(referrer)}" "${escaped(agent)}"`,
}

const listOf = (forwarded: string) => (forwarded === '' ? CLIENT : `${forwarded}, ${CLIENT}`)

const ORDINARY = ['', 'ada', 'bob'].map((user) => ({ user, agent: 'curl/8', referrer: '', forwarded: '' }))

const TEMPLATES: Readonly<Record<string, string>> = {
  main: 'main',
  'Elastic Beanstalk': '%h (%{X-Forwarded-For}i) %l %u %t "%r"',
  'a list in quotes in front': '"%{X-Forwarded-For}i" %h %l %u %t "%r"',
}

const cases = Object.keys(FORMATS).flatMap((name) =>
  [escapedByNginx, escapedByApache].map((escaped) => [name, escaped.name, escaped] as const),
)

test.each(cases)(
  'no client hides its lines, or has another time or address: %s, %s',
  (name, _escape, escaped) => {
    const lineOf = FORMATS[name] as (typeof FORMATS)[string]
    const access = new AccessLineReader()
    access.learn(ORDINARY.map((each) => lineOf(each, escaped)))
    // Where a list has no quotes, a line that can be read in two ways counts by the connection, or by none.
    const possible = name === 'Elastic Beanstalk' ? [CLIENT, '10.0.3.4', ''] : [CLIENT]
    const readers = [access, new TemplateReader(parseTemplate(TEMPLATES[name] as string))]
    const request = emptyRequest()
    fc.assert(
      fc.property(sent, (values) => {
        const line = lineOf(values, escaped)
        for (const reader of readers) {
          const kind = reader.read(line, request)
          const { address, forwarded, timeMs, path } = request
          expect([kind, timeMs, path]).toEqual(['request', Date.UTC(2026, 10, 28, 10), '/a'])
          expect(possible).toContain(clientAddress(address, forwarded))
        }
      }),
      { numRuns: 300 },
    )
  },
)
