import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { GAUGES, INSTRUMENTS } from '../../../src/metrics/instruments.js'
import { findOrInstall, INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { brokenLinks } from '../docs/pages.js'

const ROOT = resolve(__dirname, '../../..')
const RULES = join(ROOT, 'examples/metrics/alerts.yml')
const rules = readFileSync(RULES, 'utf8')
const names = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name)
const run = promisify(execFile)

let promtool: string
beforeAll(async () => {
  promtool = await findOrInstall({ program: 'promtool', debianPackage: 'prometheus' })
}, INSTALL_TIMEOUT_MS)

/** Series of one sample a minute, and which alerts fire at a minute, each with its limiter, and its job unless it is `shop`. */
interface Scene {
  readonly series: Readonly<Record<string, string>>
  readonly atMinutes: number
  readonly firing: readonly (readonly [alert: string, limiter: string, job?: string])[]
}

const decisions = (labels: string) => `headgate_decisions_total{limiter="api", mode="enforce", ${labels}}`
const report = 'headgate_decisions_total{limiter="api", mode="report", outcome="denied", source="store"}'
const allowed = decisions('outcome="allowed", source="store"')
const denied = decisions('outcome="denied", source="store"')
const admitted = decisions('outcome="allowed", source="overload"')
const full = decisions('outcome="denied", source="overload"')
const local = decisions('outcome="allowed", source="local"')
const breaker = (state: string) =>
  `headgate_circuit_breaker_state{limiter="api", store="redis", state="${state}"}`
const failures = (event: string, instance = 'a') =>
  `headgate_failures_total{limiter="api", event="${event}", instance="${instance}"}`
const candidate = (outcome: string) =>
  `headgate_candidate_decisions_total{limiter="api", outcome="allowed", candidate_outcome="${outcome}"}`

/** Returns a series of the same limiter in another application. */
const inJob = (job: string, series: string) => series.replace('{', `{job="${job}", `)

const SCENES: Readonly<Record<string, Scene>> = {
  'a fifth of the requests is denied': {
    series: { [allowed]: '0+48x30', [denied]: '0+12x30' },
    ...{ atMinutes: 20, firing: [['HeadgateManyDenied', 'api']] },
  },
  'a fifth is denied, but not for long': {
    series: { [allowed]: '0+48x30', [denied]: '0x14 12+12x10' },
    ...{ atMinutes: 20, firing: [] },
  },
  'a twentieth is denied': {
    series: { [allowed]: '0+57x30', [denied]: '0+3x30' },
    ...{ atMinutes: 20, firing: [] },
  },
  'a fifth would be denied in report mode': {
    series: { [allowed]: '0+48x30', [report]: '0+12x30' },
    ...{ atMinutes: 20, firing: [] },
  },
  'an overload guard denies a fifth, and nothing is wrong with its limits': {
    series: { [admitted]: '0+48x30', [full]: '0+12x30' },
    ...{ atMinutes: 20, firing: [['HeadgateOverloaded', 'api']] },
  },
  'an overload guard denies a fiftieth': {
    series: { [admitted]: '0+98x30', [full]: '0+2x30' },
    ...{ atMinutes: 20, firing: [] },
  },
  'an overload guard denies a fifth for a moment': {
    series: { [admitted]: '0+48x30', [full]: '0x16 12x13' },
    ...{ atMinutes: 18, firing: [] },
  },
  'an overload guard would deny a fifth in report mode': {
    series: { [admitted]: '0+48x30', [full.replace('enforce', 'report')]: '0+12x30' },
    ...{ atMinutes: 20, firing: [] },
  },
  'a circuit breaker probes a store that stays away': {
    series: { [breaker('open')]: '0x5 1 0 1 0 1 0 1', [breaker('half-open')]: '0x5 0 1 0 1 0 1 0' },
    ...{ atMinutes: 12, firing: [['HeadgateStoreUnavailable', 'api']] },
  },
  'a circuit breaker is open for a moment': {
    series: { [breaker('open')]: '0x5 1 0x10', [breaker('closed')]: '1x5 0 1x10' },
    ...{ atMinutes: 8, firing: [] },
  },
  'half of the decisions are made without the store': {
    series: { [allowed]: '0+30x30', [local]: '0+30x30' },
    ...{ atMinutes: 15, firing: [['HeadgateDecidesWithoutStore', 'api']] },
  },
  'one decision in a thousand is made without the store': {
    series: { [allowed]: '0+999x30', [local]: '0+1x30' },
    ...{ atMinutes: 15, firing: [] },
  },
  'limits are lost for the first time': {
    series: { [failures('limitsLost')]: '_x20 1x10' },
    ...{ atMinutes: 25, firing: [['HeadgateLimitsLost', 'api']] },
  },
  'limits are lost again, in one of two processes': {
    series: { [failures('limitsLost')]: '1x20 2x10', [failures('limitsLost', 'b')]: '1x30' },
    ...{ atMinutes: 25, firing: [['HeadgateLimitsLost', 'api']] },
  },
  'limits were lost long ago': {
    series: { [failures('limitsLost')]: '_x5 1x60' },
    ...{ atMinutes: 40, firing: [] },
  },
  'settings fail for the first time': {
    series: { [failures('settingsFailed')]: '_x20 1x10' },
    ...{ atMinutes: 25, firing: [['HeadgateSettingsFailed', 'api']] },
  },
  'settings failed long ago, and a refund fails now': {
    series: { [failures('settingsFailed')]: '_x5 1x60', [failures('refundFailed')]: '_x35 1x30' },
    ...{ atMinutes: 40, firing: [] },
  },
  'a candidate would newly deny a tenth': {
    series: { [candidate('allowed')]: '0+54x60', [candidate('denied')]: '0+6x60' },
    ...{ atMinutes: 40, firing: [['HeadgateCandidateDeniesMany', 'api']] },
  },
  'a candidate denies what is denied anyway': {
    series: {
      [candidate('allowed')]: '0+54x60',
      'headgate_candidate_decisions_total{limiter="api", outcome="denied", candidate_outcome="denied"}':
        '0+6x60',
    },
    ...{ atMinutes: 40, firing: [] },
  },
  'no more requests arrive': {
    series: { [allowed]: '0+60x60 3600x60' },
    ...{ atMinutes: 85, firing: [['HeadgateNoDecisions', 'api']] },
  },
  'the processes are gone': {
    series: { [allowed]: '0+60x60' },
    ...{ atMinutes: 85, firing: [['HeadgateNoDecisions', 'api']] },
  },
  'requests arrive as before': {
    series: { [allowed]: '0+60x120' },
    ...{ atMinutes: 85, firing: [] },
  },
  'a fifth is denied in a small job, beside a large one with a limiter of the same name': {
    series: {
      [inJob('shop', allowed)]: '0+9600x30',
      [inJob('shop', denied)]: '0x30',
      [inJob('admin', allowed)]: '0+48x30',
      [inJob('admin', denied)]: '0+12x30',
    },
    ...{ atMinutes: 20, firing: [['HeadgateManyDenied', 'api', 'admin']] },
  },
  'a store of one job replies, and that of another does not': {
    series: {
      [inJob('shop', breaker('open'))]: '0x20',
      [inJob('admin', breaker('open'))]: '1x20',
      [inJob('shop', allowed)]: '0+6000x20',
      [inJob('admin', local)]: '0+60x20',
    },
    atMinutes: 15,
    firing: [
      ['HeadgateStoreUnavailable', 'api', 'admin'],
      ['HeadgateDecidesWithoutStore', 'api', 'admin'],
    ],
  },
  'limits are lost and settings fail in one job, long after they were in another': {
    series: {
      [inJob('shop', failures('limitsLost'))]: '1x60',
      [inJob('admin', failures('limitsLost'))]: '_x50 1x10',
      [inJob('shop', failures('settingsFailed'))]: '_x50 1x10',
      [inJob('admin', failures('settingsFailed'))]: '1x60',
    },
    atMinutes: 55,
    firing: [
      ['HeadgateLimitsLost', 'api', 'admin'],
      ['HeadgateSettingsFailed', 'api', 'shop'],
    ],
  },
  'a candidate of one job would newly deny a tenth, and no request of the other': {
    series: {
      [inJob('shop', candidate('allowed'))]: '0+9000x60',
      [inJob('admin', candidate('allowed'))]: '0+54x60',
      [inJob('admin', candidate('denied'))]: '0+6x60',
    },
    ...{ atMinutes: 40, firing: [['HeadgateCandidateDeniesMany', 'api', 'admin']] },
  },
  'no more requests of one job arrive, and those of another do': {
    series: { [inJob('shop', allowed)]: '0+60x120', [inJob('admin', allowed)]: '0+60x60 3600x60' },
    ...{ atMinutes: 85, firing: [['HeadgateNoDecisions', 'api', 'admin']] },
  },
  'one request a day has come': {
    series: { [allowed]: '0x20 1x120' },
    ...{ atMinutes: 85, firing: [] },
  },
}

test('promtool finds no fault in the rules, nor in the configuration that loads them', async () => {
  const { stdout } = await run(promtool, ['check', 'config', join(ROOT, 'examples/metrics/prometheus.yml')])
  expect(stdout).toContain('SUCCESS: 1 rule files found')
  expect(stdout).toContain(`SUCCESS: ${names.length} rules found`)
})

test('each alert fires when it should, and none when it should not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-alerts-'))
  try {
    const file = join(folder, 'test.yml') // JSON is YAML
    const tests = Object.entries(SCENES).map(([name, { series, atMinutes, firing }]) => ({
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([each, values]) => ({
        series: each.includes('job=') ? each : inJob('shop', each),
        values,
      })),
      promql_expr_test: [
        {
          expr: 'count by (alertname, limiter, job) (ALERTS{alertstate="firing"})',
          eval_time: `${atMinutes}m`,
          exp_samples: firing.map(([alert, limiter, job = 'shop']) => {
            return { labels: `{alertname="${alert}", limiter="${limiter}", job="${job}"}`, value: 1 }
          }),
        },
      ],
    }))
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
    const { stdout } = await run(promtool, ['test', 'rules', file])
    expect(stdout).toContain('SUCCESS')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a scene for each alert makes it fire', () => {
  const fired = Object.values(SCENES).flatMap(({ firing }) => firing.map(([alert]) => alert))
  expect([...new Set(fired)].sort()).toEqual([...names].sort())
})

test('each alert has a summary, a description, and a link to a heading of the docs', () => {
  const site = 'https://headgate.github.io/headgate/'
  const links = Array.from(rules.matchAll(/runbook_url: (\S+)/g), ([, link = '']) => link)
  const page = {
    path: 'docs/alerts.md',
    text: links.map((link) => `[x](${link.replace(site, '').replace('#', '.md#')})`).join('\n'),
  }
  expect(links.every((link) => link.startsWith(site))).toBe(true)
  expect([links.length, new Set(links).size]).toEqual([names.length, names.length])
  expect(brokenLinks(ROOT, page)).toEqual([])
  for (const text of [/^ {10}summary: ".+"$/gm, /^ {10}description: >-$/gm])
    expect(rules.match(text)).toHaveLength(names.length)
})

test('the rules name only metrics that headgate has', () => {
  const known = [...INSTRUMENTS, ...GAUGES].map(({ name, kind }) => {
    return name.replaceAll('.', '_') + (kind === 'counter' ? '_total' : '')
  })
  const named = new Set(rules.match(/headgate_\w+/g))
  expect([...named].filter((name) => !known.includes(name))).toEqual([])
})
