import { join } from 'node:path'
import { nodeOf } from '../../e2e/package/nodes.js'
import { ROOT, run } from '../../e2e/package/run.js'

/** Runs a file of tests under node:test, on a Node.js that has node:sqlite, and expects that all pass. */
export async function passesOn(major: string, name: string): Promise<void> {
  const { path } = await nodeOf(major)
  const flags = ['--import', 'tsx', '--test-reporter', 'tap']
  const { stdout } = await run(path, [...flags, join(__dirname, `${name}.ts`)], ROOT)
  expect(stdout.match(/^not ok[\s\S]*?\n {2}\.\.\.$/gm) ?? []).toEqual([])
  expect(stdout).toMatch(/^# pass [1-9]\d*\n# fail 0$/m)
}
