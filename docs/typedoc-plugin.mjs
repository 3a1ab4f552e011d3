import { readFileSync } from 'node:fs'
import { Application, Converter, ReflectionKind } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'
import { firstSentence, listOptions } from './api-options.mjs'

/** A row of an index: a link and a description. */
const INDEX_ROW = /^\| (\[[^|]*\]\([^|)]*\)) \| ((?:\\\||[^|])+) \|$/gm
/** The end of the index of an entry: a heading and a sentence for each name of another entry. */
const REFERENCES = /^## References\n([\s\S]*)/m
const REFERENCE = /^### (.+)\n\n(?:Re-exports|Renames and re-exports) \[.*\]\((.+)\)$/gm
/** Where the functions of an entry come from, in the order of its index. Others come last. */
const PLACES = [
  /^(?:\w+\.ts|http\/rate-limit|login\/|adapters\/)/,
  /^limiter\/create-limiter/,
  /^keys\//,
  /^policies\//,
  /^stores\//,
]
/** Folders whose types every framework's entry names. */
const SHARED = /^(?:http|keys|limiter|login|options|pipe|policies|settings|util)\//

/**
 * A plugin of TypeDoc. It names each module as projects import it, such as `headgate/redis`. It lists the
 * options of a function on the function's page. In indexes, it sorts functions, shortens descriptions to a
 * sentence, and lists what comes from other entries as links. It warns of exported functions without a
 * comment, as TypeDoc would do for every method of every interface.
 */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const modules = project.getChildrenByKind(ReflectionKind.Module)
    moveSharedTypes(modules)
    for (const module of modules)
      module.name = module.name === 'index' ? 'headgate' : `headgate/${module.name}`
  })
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const each of project.getReflectionsByKind(ReflectionKind.Function)) listOptions(each)
  })
  app.converter.on(Converter.EVENT_END, ({ project }) => {
    for (const module of project.getChildrenByKind(ReflectionKind.Module)) sortFunctions(module)
  })
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    page.contents = page.contents.replace(
      INDEX_ROW,
      (_, link, prose) => `| ${link} | ${firstSentence(prose)} |`,
    )
    page.contents = page.contents.replace(REFERENCES, (_, references) => {
      const links = [...references.matchAll(REFERENCE)].map(([, name, path]) => `[${name}](${path})`)
      return `## From other entries\n\n${links.join(',\n')}\n`
    })
  })
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    const functions = project.getReflectionsByKind(ReflectionKind.Function)
    for (const each of functions)
      if (![each, ...(each.signatures ?? [])].some((reflection) => reflection.hasComment()))
        app.logger.warn(`${each.getFullName()} has no doc comment.`)
  })
}

/** Sorts the functions of a module: what users call first comes first. */
function sortFunctions(module) {
  const functions = module.groups?.find(({ title }) => title === 'Functions')
  functions?.children.sort((a, b) => placeOf(a) - placeOf(b))
}

/** The place of a function in its index, by the folder of its source. */
function placeOf({ sources }) {
  const place = PLACES.findIndex((pattern) => pattern.test(sources?.[0]?.fileName))
  return place < 0 ? PLACES.length : place
}

/**
 * Moves types that no entry exports, such as those of single options, to `headgate`. Otherwise they would be
 * with the last entry that names them, such as `headgate/nest`.
 */
function moveSharedTypes(modules) {
  const main = modules.find(({ name }) => name === 'index')
  for (const module of modules) {
    if (module === main) continue
    const entry = readFileSync(new URL(`../src/${module.name}.ts`, import.meta.url), 'utf8')
    const isShared = ({ name, sources }) =>
      SHARED.test(sources?.[0]?.fileName ?? '') &&
      !new RegExp(`\\b${name}\\b`).test(entry) &&
      !main.children.some((other) => other.name === name)
    for (const child of module.children?.filter(isShared) ?? []) {
      module.removeChild(child)
      child.parent = main
      main.addChild(child)
    }
  }
}
