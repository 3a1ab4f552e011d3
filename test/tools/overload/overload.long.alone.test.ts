import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fetchLocked } from '../../e2e/package/fetched.js'
import { type Bundle, bundleSources } from '../../support/servers/bundle.js'
import { type LiveRun, type Programs, play } from './run.js'
import { GUARDS } from './scenario.js'
import { scenarioNamed } from './scenarios.js'

const SECONDS = 4
const bundles: Bundle[] = []
let programs: Programs

beforeAll(async () => {
  bundles.push(...(await Promise.all(['server-child.ts', 'load-child.ts'].map(bundled))))
  const [server, load] = bundles.map(({ path }) => pathToFileURL(path)) as [URL, URL]
  programs = { server, load, packages: await fetchLocked('overload', join(__dirname, 'packages')) }
}, 120_000)
afterAll(() => Promise.all(bundles.map(({ remove }) => remove())))

const bundled = (name: string) => bundleSources(join(__dirname, name))

const run = (scenario: string, contender: string): Promise<LiveRun> =>
  play(scenarioNamed(scenario), contender, programs, SECONDS, 1)

test.each(GUARDS)('%s: each request is served, denied or lost', async (contender) => {
  const { sent, good, denied, lost } = await run('backend, 2 times', contender)
  expect([good + denied + lost, sent > SECONDS * 1000]).toEqual([sent, true])
})

test.each(['backend, 2 times', 'cpu, 2 times'])('%s: a guard serves what none does not', async (scenario) => {
  const none = await run(scenario, 'none')
  const fixed = await run(scenario, 'fixed')
  const ours = await run(scenario, 'headgate')
  expect(none.good).toBeLessThan(0.5 * fixed.good)
  expect(ours.good).toBeGreaterThan(0.7 * fixed.good)
})
