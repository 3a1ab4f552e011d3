import { fork } from 'node:child_process'
import { messageOf } from '../../stores/store-error.js'
import { storeConformance } from '../../testing/conformance/store-conformance.js'
import { serveStore } from '../../testing/exactness/serve-store.js'
import { storeExactness } from '../../testing/exactness/store-exactness.js'
import type { TestCase } from '../../testing/test-case.js'
import { escapeUnprintable } from '../../util/printable.js'
import { InputError, PartialOutputError } from '../failures.js'
import { loadStore } from '../load-store.js'
import { count, jsonText, printable, row } from '../output.js'
import { showProgress } from '../progress.js'
import { parseTestStoreArguments, type TestStoreSettings } from './arguments.js'
import { conformanceSetup, type Usage } from './conformance-setup.js'
import { type CaseResult, runCases } from './run-cases.js'
import { SCOPE, scopedStore } from './scoped-store.js'

/** Runs `headgate test-store`. Returns what it prints. */
export async function testStoreCommand(args: readonly string[]): Promise<string> {
  const settings = parseTestStoreArguments(args)
  if (settings.isServed) {
    await serveStore(scopedStore(await loadStore('test-store', settings.module), SCOPE).store)
    return ''
  }
  const usage: Usage = { operations: 0, documentKeys: [] }
  const results = await testStore(settings, usage)
  const failed = results.filter(({ error }) => error !== undefined)
  const text = settings.json ? jsonText(reportOf(results, usage)) : reportText(results, usage)
  if (failed.length === 0) return text
  throw new PartialOutputError(`${failed.length} of ${results.length} tests failed`, text)
}

async function testStore(settings: TestStoreSettings, usage: Usage): Promise<readonly CaseResult[]> {
  const { module, isExact, only } = settings
  const store = await loadStore('test-store', module)
  const isWanted = ({ name }: TestCase) => name.includes(only)
  const conformance = storeConformance(conformanceSetup(store, settings, usage)).filter(isWanted)
  const exactness = isExact ? exactnessCases(settings).filter(isWanted) : []
  const total = conformance.length + exactness.length
  if (total === 0) throw new InputError(`no test has ${JSON.stringify(only)} in its name`)
  const progress = showProgress(process.stderr, (done) => `${done} of ${total} tests`)
  const onDone = () => progress.add(1)
  try {
    const results = await runCases(conformance, settings, onDone)
    // Each case starts several processes, so more than one at a time would measure this machine.
    return [...results, ...(await runCases(exactness, { ...settings, parallel: 1 }, onDone))]
  } finally {
    progress.end()
    await store.close?.()
  }
}

/** Returns the tests with several processes, each of which runs this program with the store's module. */
function exactnessCases(settings: TestStoreSettings): TestCase[] {
  const { module, processes, atomicAcrossKeys, timeoutMs } = settings
  return storeExactness({
    startProcess: () => fork(String(process.argv[1]), ['test-store', module, '--serve']),
    capabilities: { atomicAcrossKeys },
    processes,
    timeout: timeoutMs,
  })
}

function reportText(results: readonly CaseResult[], usage: Usage): string {
  const failed = results.filter(({ error }) => error !== undefined)
  const failures = failed.map(({ name, error }) => `FAILED  ${name}\n${indent(messageOf(error))}\n\n`)
  const lines = [
    row('passed', count(results.length - failed.length)),
    row('failed', count(failed.length)),
    row('operations', count(usage.operations)),
    ...usage.documentKeys.map((key) => row('left, empty', printable(key))),
  ]
  return `${failures.join('')}${lines.join('\n')}\n`
}

const indent = (text: string) =>
  text
    .split('\n')
    .map((line) => `        ${escapeUnprintable(line)}`)
    .join('\n')

function reportOf(results: readonly CaseResult[], { operations, documentKeys }: Usage): object {
  const tests = results.map(({ name, error }) => ({
    name,
    passed: error === undefined,
    ...(error !== undefined && { error: messageOf(error) }),
  }))
  return { operations, emptyDocuments: documentKeys, tests }
}
