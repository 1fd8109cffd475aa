const _imports_0 = "/assets/home-broker.BjNww1GL.png";
export {
  _imports_0 as _
};
