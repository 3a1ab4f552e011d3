import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Child } from '../../bench/harness/child.js'
import { withChildren } from './children.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function hangingProgram(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-hanging-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const path = join(folder, 'hanging.mjs')
  await writeFile(path, "process.on('message', () => { for (;;); })\n")
  return pathToFileURL(path)
}

test('a server that hangs is killed, and what waits for it fails', async () => {
  let hanging: Child | undefined
  const asked = withChildren([[await hangingProgram(), []]], 100, (child) => {
    hanging = child
    return (child as Child).ask('port')
  })
  await expect(asked).rejects.toThrow('A child ended early')
  expect(hanging?.process.signalCode).toBe('SIGKILL')
})

test('a server that hangs at its end is killed also', async () => {
  let hanging: Child | undefined
  const failed = withChildren(
    [[await hangingProgram(), []]],
    60_000,
    (child) => {
      hanging = child
      child?.process.send('port')
      return Promise.reject(new Error('The generator failed.'))
    },
    50,
  )
  await expect(failed).rejects.toThrow('The generator failed.')
  expect(hanging?.process.signalCode).toBe('SIGKILL')
})
