import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"@owner-sso/token-store-memory","description":"","frontmatter":{},"headers":[],"relativePath":"api/@owner-sso/token-store-memory.md","filePath":"api/@owner-sso/token-store-memory.md"}');
const _sfc_main = { name: "api/@owner-sso/token-store-memory.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="owner-ssotoken-store-memory" tabindex="-1">@owner-sso/token-store-memory <a class="header-anchor" href="#owner-ssotoken-store-memory" aria-label="Permalink to &quot;@owner-sso/token-store-memory&quot;">​</a></h1><p>Token store in the memory of one process.</p><h2 id="functions" tabindex="-1">Functions <a class="header-anchor" href="#functions" aria-label="Permalink to &quot;Functions&quot;">​</a></h2><p><a id="memorytokenstore"></a></p><h3 id="memorytokenstore" tabindex="-1">memoryTokenStore() <a class="header-anchor" href="#memorytokenstore" aria-label="Permalink to &quot;memoryTokenStore()&quot;">​</a></h3><blockquote><p><strong>memoryTokenStore</strong>(): <code>Required</code>&lt;<a href="./token-manager#tokenstore"><code>TokenStore</code></a>&gt;</p></blockquote><p>A new, empty store. Managers of one process may share it; nothing outside the process can.</p><h4 id="returns" tabindex="-1">Returns <a class="header-anchor" href="#returns" aria-label="Permalink to &quot;Returns&quot;">​</a></h4><p><code>Required</code>&lt;<a href="./token-manager#tokenstore"><code>TokenStore</code></a>&gt;</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("api/@owner-sso/token-store-memory.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const tokenStoreMemory = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  tokenStoreMemory as default
};
