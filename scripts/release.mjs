// Prepares releases. Run in the folder of package.json:
//   node scripts/release.mjs version   takes the changesets into a new version, and dates it in CHANGELOG.md
//   node scripts/release.mjs due       prints the current version if the last commit makes it a release
//   node scripts/release.mjs notes     prints what CHANGELOG.md says of the current version; fails before its date
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const CHANGESETS = '@changesets/cli@3.0.3'
const UNRELEASED = /^## unreleased$/im
/** Such as `## 0.1.0 (unreleased)`. */
const UNDATED = /^## (\S+) \(unreleased\)$/im

const commands = { version, due, notes }
const command = commands[process.argv[2]]
if (command === undefined) throw new Error(`release: use one of ${Object.keys(commands).join(', ')}.`)
command()

function version() {
  const waiting = readdirSync('.changeset').filter((name) => name.endsWith('.md') && name !== 'README.md')
  if (waiting.length === 0) return
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const [, undated] = UNDATED.exec(changelog) ?? []
  if (undated !== undefined) throw new Error(`CHANGELOG.md: give ${undated} its date first.`)
  if (!UNRELEASED.test(changelog)) throw new Error('CHANGELOG.md has no heading "## Unreleased".')
  execFileSync('npx', ['--yes', CHANGESETS, 'version'], { stdio: 'inherit' })
  const next = currentVersion()
  const today = new Date().toISOString().slice(0, 10)
  writeFileSync('CHANGELOG.md', changelog.replace(UNRELEASED, `## ${next} (${today})`))
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  lock.version = next
  lock.packages[''].version = next
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
}

function due() {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const before = execFileSync('git', ['show', 'HEAD^:CHANGELOG.md'], { encoding: 'utf8' })
  if (datedSection(changelog) === undefined) return
  const wasDated = datedSection(before) !== undefined
  if (!UNRELEASED.test(changelog)) {
    if (!wasDated || UNRELEASED.test(before)) console.log(currentVersion())
  } else if (!wasDated) {
    throw new Error(`CHANGELOG.md: move what is under "## Unreleased" to ${currentVersion()}.`)
  }
}

function notes() {
  const section = datedSection(readFileSync('CHANGELOG.md', 'utf8'))
  if (section === undefined) {
    console.error(`CHANGELOG.md has no date for version ${currentVersion()}.`)
    process.exitCode = 1
    return
  }
  console.log(section.slice(section.indexOf('\n')).trim())
}

/** Returns what a changelog says of the current version, with its heading; `undefined` without a date. */
function datedSection(changelog) {
  const heading = `## ${currentVersion()} (`
  return changelog.split(/^(?=## )/m).find((each) => each.startsWith(heading) && !UNDATED.test(each))
}

function currentVersion() {
  return JSON.parse(readFileSync('package.json', 'utf8')).version
}
