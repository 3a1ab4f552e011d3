import { Application, Converter, ReflectionKind } from 'typedoc'

/**
 * A plugin of TypeDoc. It calls each module by what projects import, such as `headgate/redis`, and warns of
 * exported functions without a comment. TypeDoc's own check would want one for every method of every
 * interface, too.
 */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getChildrenByKind(ReflectionKind.Module))
      module.name = module.name === 'index' ? 'headgate' : `headgate/${module.name}`
  })
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    const functions = project.getReflectionsByKind(ReflectionKind.Function)
    for (const each of functions)
      if (![each, ...(each.signatures ?? [])].some((reflection) => reflection.hasComment()))
        app.logger.warn(`${each.getFullName()} has no doc comment.`)
  })
}
