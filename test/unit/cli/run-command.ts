import { runCommand } from '../../../src/cli/main.js'

/** What a command line has printed, with its exit code. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `headgate` in this process. */
export async function run(...args: readonly string[]): Promise<Ran> {
  const written = { stdout: '', stderr: '' }
  const streams = ['stdout', 'stderr'] as const
  const listeners = process.stdout.listeners('error')
  const spies = streams.map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text
      return true
    }),
  )
  try {
    return { code: await runCommand(args), ...written }
  } finally {
    for (const spy of spies) spy.mockRestore()
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
  }
}

/** Runs a command that must succeed. Returns what it prints. */
export async function mustRun(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Runs a command that must fail, and print one line of plain text. Returns its exit code and that line. */
export async function failureOf(...args: readonly string[]): Promise<[code: number, line: string]> {
  const { code, stdout, stderr } = await run(...args)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^headgate: [^\n]+\n$/)
  return [code, stderr.slice('headgate: '.length, -1)]
}
