import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { figureIn, printedRun, printedTables } from './printed-tables.js'
import { proseOf } from './prose.js'

const page = readFileSync(join(resolve(__dirname, '../../..'), 'docs/sizing.md'), 'utf8')
const prose = proseOf('sizing.md')
const tables = printedTables(printedRun('test/tools/results/simulate.txt'))
const validated = printedTables(printedRun('test/tools/results/simulate-validate.txt'))

const NODES = 'How many Redis nodes?'
const HOT = 'One hot key on one Redis'
const OVER = 'Clients over their limit on Redis'
const FAULTS = 'Faults: '
const SKEW = 'Clock skew on memcached'
const DATABASE = 'PostgreSQL: when is a database enough?'

const figure = (caption: string, scenario: string, column: string) =>
  figureIn(tables, caption, { scenario }, column)
const whole = (caption: string, scenario: string, column: string) =>
  Math.round(figure(caption, scenario, column))
const p99 = (caption: string, scenario: string) => figure(caption, scenario, 'p99 ms').toFixed(1)
/** How much less one scenario has than another, in %. */
const less = (caption: string, scenario: string, than: string, column: string) =>
  Math.round(100 * (1 - figure(caption, scenario, column) / figure(caption, than, column)))
const extra = (scenario: string) =>
  100 * (figure(SKEW, scenario, 'admitted') / figure(SKEW, 'clocks agree', 'admitted') - 1)

const [BELOW, LEASED] = ['below the limit, 50,000/s', 'below the limit, 50,000/s, leased']
const MANY_LEASED = 'below the limit, 1,000,000/s, leased'

test.each([
  ['for 10,000 decisions a second?', `One. Its load is ${whole(NODES, '10,000/s, 1 node', 'load')}%`],
  [
    'For 100,000?',
    `A Cluster of six: the load of each is ${whole(NODES, '100,000/s, 6 nodes', 'load')}%, and the p99 of waits ${p99(NODES, '100,000/s, 6 nodes')} ms. Three are at their limit (${whole(NODES, '100,000/s, 3 nodes', 'load')}%)`,
  ],
  [
    'For 1,000,000?',
    `A Cluster of 45 to 60: the load of each is ${whole(NODES, '1,000,000/s, 45 nodes', 'load')} to ${whole(NODES, '1,000,000/s, 60 nodes', 'load')}%, and the p99 of waits ${p99(NODES, '1,000,000/s, 45 nodes')} ms. 30 are at their limit (${whole(NODES, '1,000,000/s, 30 nodes', 'load')}%)`,
  ],
  [
    'What can one hot key bear?',
    `50,000 decisions a second with a p99 of ${p99(HOT, BELOW)} ms, 200,000 with ${p99(HOT, 'below the limit, 200,000/s')} ms. Leased, 1,000,000, and Redis' load is ${whole(HOT, MANY_LEASED, 'load')}%`,
  ],
  [
    'When should I lease a key?',
    `At 50,000 a second, ${whole(HOT, LEASED, 'leased')}% of the decisions need no round trip, and Redis' load falls from ${whole(HOT, BELOW, 'load')}% to ${whole(HOT, LEASED, 'load')}%`,
  ],
  [
    'What does the denial cache save?',
    `${less(HOT, '25,000/s, limit 10,000', '25,000/s, limit 10,000, no denial cache', 'trips')}% of the round trips of a hot key that is sent two and a half times its limit. ${less(OVER, 'Zipf', 'Zipf, no denial cache', 'trips')}% if few clients send most requests (Zipf's law).`,
  ],
  [
    'When is a database enough?',
    `Up to 2,000 decisions a second, PostgreSQL's load is ${whole(DATABASE, '2,000/s', 'load')}%. At 5,000 it is ${whole(DATABASE, '5,000/s', 'load')}%.`,
  ],
  [
    'What does a lost node cost?',
    `${whole(FAULTS, "a node lost for 3 s, 'local'", 'fallback')}% of all requests when one of three nodes was lost for 3 of 9 s`,
  ],
  [
    'What does clock skew cost on memcached?',
    `With clocks up to 200 ms apart, ${extra('clocks up to 200 ms apart').toFixed(1)}% more was admitted. With 2 s, ${Math.round(extra('clocks up to 2 s apart'))}%.`,
  ],
])('the answer to "%s" has the figures of the simulation', (question, answer) => {
  const words = page.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
  const row = words.split('\n').find((line) => line.includes(question))
  expect(row).toContain(answer)
})

test('no figure of the comparison with real runs differed by more than the page says', () => {
  const differences = validated.flatMap(({ rows }) =>
    rows.map((row) => Number.parseFloat(row.difference ?? '')),
  )
  expect(differences).toHaveLength(24)
  expect(Math.max(...differences.map(Math.abs))).toBe(3)
  expect(prose).toContain('No figure differed by more than 3%')
})
