/**
 * Compiles one changed source file, in this process: a package is read once, and then each change takes a moment.
 *
 * Declarations of exports say their types (`isolatedDeclarations`), so that a change inside a file can be wrong nowhere else.
 */
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

/**
 * @typedef {object} Compiled
 * @property {string} [problem] - what the compiler says against the change
 * @property {string} [javascript] - what `dist/` has of it
 */

/** @param {string} root - of the repository, whose packages are built */
export function openCompiler(root) {
  /** @type {Map<string, ReturnType<typeof openPackage>>} */
  const packages = new Map()

  /**
   * @param {string} name - the package's folder
   * @param {string} file - path of the source file, from the root
   * @param {string} source - what the file says now
   * @returns {Compiled}
   */
  return function compile(name, file, source) {
    const home = join(root, 'packages', name)
    if (!packages.has(name)) packages.set(name, openPackage(home))
    return packages.get(name)?.(join(root, file), source) ?? {}
  }
}

/** @param {string} home - folder of the package */
function openPackage(home) {
  const build = join(home, 'tsconfig.build.json')
  const path = ts.sys.fileExists(build) ? build : join(home, 'tsconfig.json')
  const { config } = ts.readConfigFile(path, (file) => ts.sys.readFile(file))
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, home)
  // What a change leaves unused is no error of it. A package that is bundled emits nothing: its sources are JavaScript all the same.
  Object.assign(options, {
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
    noEmit: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
  })
  options.outDir ??= join(home, 'dist')
  const files = fileNames.filter((file) => !relative(join(home, 'src'), file).startsWith('..'))
  /** The file that is changed now. */
  let changed = { path: '', source: '', version: 0 }
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => files,
    getScriptVersion: (file) => (file === changed.path ? String(changed.version) : '0'),
    getScriptSnapshot: (file) => {
      const text = file === changed.path ? changed.source : ts.sys.readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => home,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
    readDirectory: (...args) => ts.sys.readDirectory(...args),
    directoryExists: (folder) => ts.sys.directoryExists(folder),
    getDirectories: (folder) => ts.sys.getDirectories(folder),
  })

  /**
   * @param {string} file
   * @param {string} source
   * @returns {Compiled}
   */
  return function compileFile(file, source) {
    const unchanged = ts.sys.readFile(file) ?? ''
    const before = problemsOf(service, file)
    changed = { path: file, source, version: changed.version + 1 }
    const [problem] = problemsOf(service, file).filter((one) => !before.includes(one))
    const javascript = service
      .getEmitOutput(file)
      .outputFiles.find(({ name }) => name.endsWith('.js') && dirname(name) !== '')?.text
    changed = { path: file, source: unchanged, version: changed.version + 1 }
    return problem === undefined ? { ...(javascript !== undefined && { javascript }) } : { problem }
  }
}

/**
 * @param {ts.LanguageService} service
 * @param {string} file
 */
function problemsOf(service, file) {
  return [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ' '),
  )
}
