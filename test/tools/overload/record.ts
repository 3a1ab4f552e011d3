import { execFileSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Has what is printed from now on written to a file also, below the header that printed results have. */
export function recordInto(file: string, args: readonly string[]): void {
  const command = ['npm run overload --', ...args.map(quoted)].join(' ')
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim()
  const header = [
    `Command: ${command}`,
    `Date: ${new Date().toISOString().slice(0, 10)}`,
    `Version: before the first release, at commit ${commit}`,
    `Machine: Node.js ${process.versions.node}, ${cpus().length} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  ]
  writeFileSync(file, `${header.join('\n')}\n`)
  const print = console.log
  console.log = (text: string) => {
    print(text)
    appendFileSync(file, `${text}\n`)
  }
}

function quoted(arg: string): string {
  return /^[\w.,/-]+$/.test(arg) ? arg : `'${arg}'`
}
