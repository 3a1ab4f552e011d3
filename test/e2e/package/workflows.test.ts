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

  test('installs dependencies only where it can write nothing', () => {
    const installing = jobs.filter((job) => /npm (?:ci|install|pack)/.test(job))
    expect(installing).toHaveLength(1)
    expect(installing[0]).not.toContain('permissions:')
  })
})

test('this CHANGELOG has a heading that a release can date, or one that is dated', () => {
  const [heading] = read('CHANGELOG.md').match(/^## .*$/m) ?? []
  expect(heading).toMatch(/^## (?:Unreleased|\d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d{2}-\d{2})\))$/)
})
