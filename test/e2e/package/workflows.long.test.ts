import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROMISED } from './nodes.js'
import { ROOT } from './run.js'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const workflows = readdirSync(join(ROOT, '.github/workflows'))

test('CI runs .ci/run on every Node.js that the package promises, as does what tries the package', () => {
  const ci = read('.github/workflows/ci.yml')
  const matrix = /^ {8}node: \[(.*)\]$/m.exec(ci)?.[1]?.split(', ')
  expect(matrix).toEqual(PROMISED)
  expect(ci).toMatch(/^ {6}- run: \.ci\/run$/m)
  const { engines } = JSON.parse(read('package.json'))
  expect(engines.node).toMatch(new RegExp(`^>=${PROMISED[0]}\\.`))
})

test('the long tests run every night, where the tests can install their servers as in CI', () => {
  const nightly = read('.github/workflows/nightly.yml')
  expect(nightly).toMatch(/^ {2}schedule:\n {4}- cron: /m)
  expect(nightly).toMatch(/^ {6}- run: npm run test:long$/m)
  expect(nightly).toMatch(new RegExp(`^ {6}image: node:${PROMISED[0]}-bookworm$`, 'm'))
})

test.each(workflows)(
  '%s names scripts that exist, limits its jobs, and uses actions of GitHub by major version',
  (file) => {
    const text = read(`.github/workflows/${file}`)
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] as string)
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
    expect(text.match(/timeout-minutes:/g)).toHaveLength(text.match(/runs-on:/g)?.length ?? 0)
    expect(text).toMatch(/^permissions:\n {2}contents: read$/m)
    const uses = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1])
    expect(uses.filter((each) => !/^(?:actions\/[\w-]+@v\d+|\.\/\S+\.yml)$/.test(each as string))).toEqual([])
  },
)

describe('release.mjs', () => {
  const script = join(ROOT, 'scripts/release.mjs')
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-release-'))
    writeFileSync(join(folder, 'package.json'), '{ "version": "1.2.0" }')
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  const release = (command: string) =>
    spawnSync(process.execPath, [script, command], { cwd: folder, encoding: 'utf8' })

  test('notes prints the section of the current version', () => {
    const sections = [
      '# Changelog',
      '## 1.2.0 (2026-11-23)',
      '### Fixed\n\n- A bug.',
      '## 1.1.0 (2026-11-01)',
    ]
    writeFileSync(join(folder, 'CHANGELOG.md'), sections.join('\n\n'))
    const notes = execFileSync(process.execPath, [script, 'notes'], { cwd: folder, encoding: 'utf8' })
    expect(notes).toBe('### Fixed\n\n- A bug.\n')
  })

  test.each(['## Unreleased', '## 1.2.0 (unreleased)'])('notes fails under %j', (heading) => {
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n${heading}\n\n- A bug.\n`)
    const { status, stderr } = release('notes')
    expect([status, stderr]).toEqual([1, 'CHANGELOG.md has no date for version 1.2.0.\n'])
  })

  test('version refuses a changeset while a version waits for its date', () => {
    mkdirSync(join(folder, '.changeset'))
    writeFileSync(join(folder, '.changeset/bug.md'), "---\n'headgate': minor\n---\n\nA bug.\n")
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## 1.2.0 (unreleased)\n')
    const { status, stderr } = release('version')
    expect([status, stderr]).toEqual([1, expect.stringContaining('give 1.2.0 its date first.')])
  })

  describe('due', () => {
    const DATED = '## 1.2.0 (2026-11-23)\n'
    const UNDATED = '## 1.2.0 (unreleased)\n'
    const UNRELEASED = '## Unreleased\n\n'

    function dueAfter(...changelogs: readonly string[]) {
      git('init', '--quiet')
      for (const changelog of changelogs) {
        writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
        git('add', '.')
        git('commit', '--quiet', '--allow-empty', '--message', 'Change')
      }
      return release('due')
    }

    function git(...args: readonly string[]) {
      const author = ['-c', 'user.name=a', '-c', 'user.email=a@localhost', '-c', 'commit.gpgSign=false']
      execFileSync('git', [...author, ...args], { cwd: folder })
    }

    test.each([UNDATED, UNRELEASED, UNRELEASED + DATED])(
      'prints a version that is dated after %j',
      (before) => {
        expect(dueAfter(before, DATED).stdout).toBe('1.2.0\n')
      },
    )

    test.each([
      ['## 1.1.0 (2026-11-01)\n', UNDATED],
      [DATED, DATED],
      [DATED, UNRELEASED + DATED],
    ])('prints nothing where %j becomes %j', (before, after) => {
      expect(dueAfter(before, after)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    })

    test('fails if unreleased changes stand above the version', () => {
      const { status, stderr } = dueAfter(UNRELEASED, UNRELEASED + DATED)
      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining('move what is under "## Unreleased" to 1.2.0.'),
      ])
    })
  })
})

describe('the release workflow', () => {
  const jobs = read('.github/workflows/release.yml').split(/^ {2}(?=[\w-]+:$)/m)

  test('runs nothing of this repository in the job that can publish', () => {
    const publishing = jobs.filter((job) => job.includes('id-token: write'))
    const commands = publishing.map((job) => [...job.matchAll(/(?:run|uses): (.*)/g)].map(([, each]) => each))
    expect(commands).toEqual([
      [
        expect.stringMatching(/^actions\/setup-node@/),
        expect.stringMatching(/^actions\/download-artifact@/),
        'npm publish headgate-*.tgz --provenance --access public',
      ],
    ])
  })

  test('runs dependencies only where it can write nothing', () => {
    // `release.mjs version` runs a package by npx.
    const running = jobs.filter((job) => /npm (?:ci|install|pack)|release\.mjs version/.test(job))
    expect(running.map((job) => job.split(':', 1)[0])).toEqual(['version', 'pack'])
    expect(running.join()).not.toMatch(/permissions:|GH_TOKEN|secrets\./)
  })

  test('takes of the next version only the files that a version changes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-patch-'))
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
    try {
      const files = [
        'CHANGELOG.md',
        'package.json',
        'package-lock.json',
        '.changeset/a.md',
        'scripts/release.mjs',
      ]
      git('init', '--quiet')
      for (const file of files) {
        mkdirSync(join(folder, file, '..'), { recursive: true })
        writeFileSync(join(folder, file), 'before\n')
      }
      git('add', '.')
      for (const file of files) writeFileSync(join(folder, file), 'after\n')
      const patch = git('diff', '--binary')
      git('checkout', '--quiet', '.')
      const [, command = ''] =
        /git apply ((?:.|\n)*?version\.patch")/.exec(read('.github/workflows/release.yml')) ?? []
      const env = { ...process.env, RUNNER_TEMP: folder }
      mkdirSync(join(folder, 'next'))
      writeFileSync(join(folder, 'next/version.patch'), patch)
      execFileSync('bash', ['-c', `git apply ${command}`], { cwd: folder, env })
      expect(git('diff', '--name-only').trim().split('\n').sort()).toEqual(files.slice(0, 4).sort())
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

test('this CHANGELOG has a heading that a release can date, or one that is dated', () => {
  const [heading] = read('CHANGELOG.md').match(/^## .*$/m) ?? []
  expect(heading).toMatch(/^## (?:Unreleased|\d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d{2}-\d{2})\))$/)
})
