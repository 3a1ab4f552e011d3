import { stat } from 'node:fs/promises'
import { InputError, PartialOutputError } from '../failures.js'
import { asInputError } from '../log/read-log.js'
import { jsonText, printable, row } from '../output.js'
import { bytesText, showProgress } from '../progress.js'
import { parseReplayArguments, type ReplaySettings } from './arguments.js'
import { reportPage } from './html/page.js'
import { openReportFile } from './html/report-file.js'
import { reportOf } from './make-report.js'
import { Replay } from './replay.js'
import { reportText } from './report-text.js'

export const REPLAY_HELP = `Usage: headgate replay <log>... --limit <n> --window <time> [options]

Decides each request in access logs as the middleware would have. Shows who would have been denied, and when.

A log has the common or combined format of nginx and Apache, JSON, logfmt, or that of a load
balancer. It may be gzipped. Its lines may begin with a prefix of syslog, journalctl, docker or kubectl, or be
in a field of a collector's JSON. Several logs are merged by time. - is standard input.

  --limit <n>       how many requests a client may send in each window; may be repeated, to compare limits
  --window <time>   the window, such as 10s, 1m or 24h
  --policy <name>   token-bucket (default), sliding-window, fixed-window or first-request
  --key <keys>      what identifies a client: ip (default), user, path or field:NAME (of JSON or logfmt), or
                    several, such as ip,path
  --only <route>    limit only these requests, such as 'POST /login' or '/api/*'; may be repeated
  --format <format> how lines are written, if it is not recognized: common, combined, main, or a log format
                    of nginx or Apache, such as '$remote_addr [$time_local] "$request"'
  --trust-proxy <p> the proxies that forward clients' addresses: private (those with private addresses), how
                    many there are, their addresses and ranges, or none (default: private, and all
                    connections if nearly all public ones forward an address)
  --fields <names>  the names of fields in JSON, such as client=peer,time=at,method=verb,path=route,user=account
  --time-zone <zone>  the time zone of times without one, such as Europe/Berlin (default: UTC)
  --suggest         show the smallest limits that deny at most 0, 0.1 and 1% of requests, and of clients;
                    requires --policy fixed-window or first-request, and makes --limit optional
  --json            print one JSON object
  --html <file>     also write the report as a page with charts

Exit codes: 0 done, 1 an input failed, 2 wrong arguments.
`

/** Runs `headgate replay`. Returns what it prints. */
export async function replayCommand(args: readonly string[]): Promise<string> {
  const settings = parseReplayArguments(args)
  const page = settings.html === undefined ? undefined : await openReportFile(settings.html)
  try {
    const report = reportOf(await replayAll(settings), settings)
    const text = settings.json ? jsonText(report) : reportText(report)
    if (page === undefined) return text
    await page.finish(reportPage(report)).catch((error: unknown) => {
      throw error instanceof InputError ? new PartialOutputError(error.message, text) : error
    })
    return settings.json ? text : `${text}\n${row('page', printable(page.path))}\n`
  } catch (error) {
    await page?.discard()
    throw error
  }
}

/** Replays all logs that a command line names. Rejects with an `InputError` if one cannot be read. */
export async function replayAll(settings: ReplaySettings): Promise<Replay> {
  const replay = new Replay(settings)
  const total = await totalBytes(settings.files)
  const progress = showProgress(process.stderr, (bytes) => bytesText(bytes, total))
  try {
    await replay.readAll(settings.files, progress.add)
    checkAddresses(replay, settings)
  } finally {
    progress.end()
  }
  return replay
}

/** Of requests. Some others may come from a test of the server's state, which no proxy passes on. */
const NEARLY_ALL = 0.95

/** Throws an `InputError` if all requests would count as one client: then no figure is that of a limit. */
function checkAddresses(replay: Replay, { keyText }: ReplaySettings): void {
  const { unknownAddresses, privateAddresses, decisions } = replay
  const { requests } = decisions
  if (requests === 0) return
  if (privateAddresses > 0 && privateAddresses + unknownAddresses >= NEARLY_ALL * requests) {
    const problem = `${privateAddresses} of ${requests} requests have only a private IP address, such as a proxy's`
    const fix =
      'Log X-Forwarded-For beside it (see --format). If these are the clients, add --trust-proxy none'
    throw new InputError(`${problem}, which --key ${keyText} would treat as the client. ${fix}`)
  }
  if (unknownAddresses < requests) return
  const fix = "Log the client's IP address, or choose another --key"
  throw new InputError(
    `none of the ${requests} requests has an IP address, which --key ${keyText} needs. ${fix}`,
  )
}

/** Returns the size of all files; `undefined` if one of them is a pipe. Rejects if one does not exist. */
async function totalBytes(files: readonly string[]): Promise<number | undefined> {
  let total = 0
  let isKnown = true
  for (const file of files) {
    if (file === '-') {
      isKnown = false
      continue
    }
    const found = await stat(file).catch((error: unknown) => {
      throw asInputError(file, error)
    })
    isKnown &&= found.isFile()
    total += found.size
  }
  return isKnown ? total : undefined
}
