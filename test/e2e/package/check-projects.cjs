// Type-checks projects for its parent, one for each message `{ project }`, and answers with what tsc would print.
// A TypeScript that is written in JavaScript checks its second project in half the time of the first.
// It reports what is wrong in the project and in headgate's declarations. It does not check the declarations of
// other packages for themselves, which takes longer than all the rest.
const { dirname, join } = require('node:path')

const ts = require(process.argv[2])

process.on('message', ({ project }) => process.send({ project, errors: errorsOf(project) }))

function errorsOf(project) {
  const path = join(project, 'tsconfig.json')
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (found) => unreadable.push(found) }
  const unreadable = []
  const config = ts.getParsedCommandLineOfConfigFile(path, {}, host)
  if (config === undefined) return format(unreadable, project)
  const program = ts.createProgram({ rootNames: config.fileNames, options: config.options })
  const own = program.getSourceFiles().filter(({ fileName }) => isOwn(fileName, dirname(path)))
  const found = [
    ...config.errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...own.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
    ...(config.options.noEmit ? [] : program.emit().diagnostics),
  ]
  return format(ts.sortAndDeduplicateDiagnostics(found), project)
}

/** Whether a file is the project's or headgate's. */
function isOwn(file, project) {
  const path = ts.sys.realpath(file)
  const root = `${ts.sys.realpath(project)}/`
  return (
    path.startsWith(root) && /^(?!node_modules\/)|^node_modules\/headgate\//.test(path.slice(root.length))
  )
}

function format(diagnostics, project) {
  const host = {
    getCurrentDirectory: () => project,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  }
  return ts.formatDiagnostics(diagnostics, host)
}
