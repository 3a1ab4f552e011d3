import { connect } from './connect.js'
import { type TrialCommands, trialProcess } from './trial-process.js'

/** Runs a process of the trial tests, which does what its parent sends. */
async function main([url = '', id = '', nowText = '']: readonly string[]): Promise<void> {
  let nowMs = Number(nowText)
  Date.now = () => nowMs
  const commands: TrialCommands = trialProcess(await connect(url), id, (next) => {
    nowMs = next
  })
  process.on('message', async ({ call, args }: { call: keyof TrialCommands; args: never[] }) => {
    const run = commands[call] as (...args: never[]) => Promise<unknown>
    process.send?.({ result: await run(...args) })
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

void main(process.argv.slice(2))
